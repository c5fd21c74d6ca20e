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

// Signals gives a context that the first SIGINT, SIGTERM or SIGHUP ends. A second SIGINT or SIGTERM ends the process at once, after
// last: the supervisors of running benchmarks notice and clean up. A second SIGHUP does nothing, because nobody asks for it: a terminal
// that closes brings one from the kernel and one from the shell, and service managers send one after SIGTERM. Where SIGHUP was ignored
// when the process started, as with nohup, it stays ignored.
func Signals(parent context.Context, last func()) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case s := <-signals:
				number, _ := s.(syscall.Signal)
				if !first && number == syscall.SIGHUP {
					continue
				}
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
