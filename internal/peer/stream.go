package peer

import "context"

type stream struct{}

func (st *stream) put(frame)           {}
func (st *stream) cut(context.Context) {}

type streams struct{}
type head struct{}

func (c *call) checkParamHeaders(tool, obj) *rpcError { return nil }

// Faults lists all faults.
func Faults() []Fault { return nil }
