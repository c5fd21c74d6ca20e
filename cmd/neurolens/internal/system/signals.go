// Package system has what the process of a command does besides the command: it checks system limits before anything else
// runs, and handles signals.
package system

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// signalled is the cause of a context that a signal ended.
type signalled struct{ signal syscall.Signal }

func (s signalled) Error() string { return "interrupted by " + s.signal.String() }

// Signals gives a context that the first SIGINT, SIGTERM or SIGHUP ends. A second SIGINT or SIGTERM ends the process at once, after
// last: the supervisors of running benchmarks notice and clean up. The first signal ends the process in the same way after Grace, if Asking is on
// then. A second SIGHUP does nothing, because nobody asks for it: a terminal that closes brings one from the kernel and one from the shell, and
// service managers send one after SIGTERM. Where SIGHUP was ignored when the process started, as with nohup, it stays ignored.
func Signals(parent context.Context, last func()) (context.Context, context.CancelFunc) {
	asking := new(atomic.Bool)
	ctx, cancel := context.WithCancelCause(context.WithValue(parent, askingKey{}, asking))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		var first syscall.Signal
		var late <-chan time.Time
		for {
			select {
			case s := <-signals:
				number, _ := s.(syscall.Signal)
				switch {
				case first == 0:
					first, late = number, time.After(Grace)
					cancel(signalled{number})
				case number != syscall.SIGHUP:
					last()
					os.Exit(128 + int(number))
				}
			case <-late:
				if asking.Load() {
					last()
					os.Exit(128 + int(first))
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(signals); close(done); cancel(nil) }
}

// Grace is how long a command that only asks may go on after the user has interrupted it. Some of its work, such as the layout of a table,
// does not look at the context.
const Grace = 2 * time.Second

// askingKey is the key of the *atomic.Bool of Asking in a context.
type askingKey struct{}

// Asking records whether the command of a context of Signals only asks from now on, so that the process can end at once and lose nothing.
func Asking(ctx context.Context, on bool) {
	if asking, ok := ctx.Value(askingKey{}).(*atomic.Bool); ok {
		asking.Store(on)
	}
}

// Interrupted is the exit code of a command that a signal ended, or 0.
func Interrupted(ctx context.Context) int {
	if s, ok := context.Cause(ctx).(signalled); ok {
		return 128 + int(s.signal)
	}
	return 0
}
