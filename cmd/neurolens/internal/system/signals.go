// Package system has what the process of a command does besides the command: it checks system limits before anything else
// runs, and handles signals.
package system

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// signalled is the cause of a context that a signal ended.
type signalled struct{ signal syscall.Signal }

func (s signalled) Error() string { return "interrupted by " + s.signal.String() }

// Signals gives a context that the first SIGINT or SIGTERM ends. A second one ends the process at once, after last:
// the supervisors of running benchmarks notice and clean up.
func Signals(parent context.Context, last func()) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case s := <-signals:
				number, _ := s.(syscall.Signal)
				if !first {
					last()
					os.Exit(128 + int(number))
				}
				cancel(signalled{number})
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(signals); close(done); cancel(nil) }
}

// Interrupted is the exit code of a command that a signal ended, or 0.
func Interrupted(ctx context.Context) int {
	if s, ok := context.Cause(ctx).(signalled); ok {
		return 128 + int(s.signal)
	}
	return 0
}
