//go:build unix

package record

import (
	"os"
	"os/signal"
	"syscall"
)

func ending() []os.Signal {
	signal.Ignore(syscall.SIGPIPE)
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
}
