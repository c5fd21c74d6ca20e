package system

import (
	"os"
	"os/signal"
	"syscall"
)

// Continued calls back whenever this process goes on after Ctrl-Z or a SIGSTOP: a shell had the terminal in between. Ctrl-Z itself is the
// kernel's: only that knows whether there is a shell that could make the process go on.
func Continued(back func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCONT)
	go func() {
		for range signals {
			back()
		}
	}()
}
