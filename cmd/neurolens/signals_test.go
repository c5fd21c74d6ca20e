package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// asks is the variable that makes the test program a command. The command prints a line when it can be interrupted.
const asks = "NEUROLENS_TEST_ASKS"

// answerSignals is the command that the variable names.
func answerSignals(how string) {
	ctx, stop := signals(context.Background(), func() { fmt.Println("last") })
	asking(ctx, how != "writes")
	fmt.Println("ready")
	<-ctx.Done()
	switch how {
	case "asks":
		select {} // until it is ended
	case "writes":
		time.Sleep(2 * signalGrace)
	}
	fmt.Println("whole")
	stop()
	os.Exit(interrupted(ctx))
}

// signalledWith starts the command, sends it signals that arrive together, and returns what it says and its exit code.
func signalledWith(t *testing.T, how string, signals ...syscall.Signal) (said string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asks+"="+how)
	out := valuetest.Must(cmd.StdoutPipe())
	valuetest.OK(t, cmd.Start())
	lines := bufio.NewScanner(out)
	valuetest.DeepEqual(t, []any{lines.Scan(), lines.Text()}, []any{true, "ready"}, "it")
	for _, s := range slices.Concat([]syscall.Signal{syscall.SIGSTOP}, signals, []syscall.Signal{syscall.SIGCONT}) {
		valuetest.OK(t, cmd.Process.Signal(s))
	}
	for lines.Scan() {
		said += lines.Text()
	}
	_ = cmd.Wait()
	return said, cmd.ProcessState.ExitCode()
}

// TestAsking: a command that only asks and never looks at its context ends after a signal. A command that writes takes as long as it needs.
func TestAsking(t *testing.T) {
	for how, want := range map[string]string{"asks": "last", "writes": "whole", "ends": "whole"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			for s, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
				said, ended := signalledWith(t, how, s)
				valuetest.DeepEqual(t, []any{said, ended}, []any{want, code}, s)
			}
		})
	}
}

// TestSecondSignal: a command that writes ends at once after two signals that ask, and not after one and a SIGHUP, whichever is first.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // a command inherits an ignored SIGHUP, as of nohup, but not a handled one
	defer signal.Stop(hangups)
	said, _ := signalledWith(t, "writes", syscall.SIGINT, syscall.SIGHUP)
	valuetest.Equal(t, said, "whole", "SIGINT and SIGHUP")
	said, _ = signalledWith(t, "writes", syscall.SIGINT, syscall.SIGTERM)
	valuetest.Equal(t, said, "last", "SIGINT and SIGTERM")
}
