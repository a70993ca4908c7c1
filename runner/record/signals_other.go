//go:build !unix

package record

import "os"

func ending() []os.Signal { return []os.Signal{os.Interrupt} }
