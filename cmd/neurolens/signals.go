package main

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

// signals gives a context that the first SIGINT, SIGTERM or SIGHUP ends. A second SIGINT or SIGTERM ends the process at once, after
// last: the supervisors of running benchmarks notice and clean up. The first signal ends the process in the same way after signalGrace, if asking is on
// then. SIGHUP does not count as a first or a second one, because nobody asks for it: a terminal that closes brings one from the kernel and one from
// the shell, service managers send one after SIGTERM, and of signals that waited for a busy process it arrives first. Where SIGHUP was ignored
// when the process started, as with nohup, it stays ignored.
func signals(parent context.Context, last func()) (context.Context, context.CancelFunc) {
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
		asked := false // a SIGINT or SIGTERM came
		var late <-chan time.Time
		for {
			select {
			case s := <-signals:
				number, _ := s.(syscall.Signal)
				if first == 0 {
					first, late = number, time.After(signalGrace)
					cancel(signalled{number})
				}
				if number == syscall.SIGHUP {
					continue
				}
				if asked {
					last()
					os.Exit(128 + int(number))
				}
				asked = true
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

// signalGrace is how long a command that only asks may go on after the user has interrupted it. Some of its work, such as the layout of a table,
// does not look at the context.
const signalGrace = 2 * time.Second

// askingKey is the key of the *atomic.Bool in a context that asking sets.
type askingKey struct{}

// asking records whether the command only reads from now on, so that a signal can end the process at once and nothing is lost. ctx is from signals.
func asking(ctx context.Context, on bool) {
	if asking, ok := ctx.Value(askingKey{}).(*atomic.Bool); ok {
		asking.Store(on)
	}
}

// interrupted returns the exit code of a command that a signal ended, or 0.
func interrupted(ctx context.Context) int {
	if s, ok := context.Cause(ctx).(signalled); ok {
		return 128 + int(s.signal)
	}
	return 0
}

// onContinue calls back whenever this process goes on after Ctrl-Z or a SIGSTOP: a shell had the terminal in between. Ctrl-Z itself is the
// kernel's: only that knows whether there is a shell that could make the process go on.
func onContinue(back func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCONT)
	go func() {
		for range signals {
			back()
		}
	}()
}
