package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
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

// TestAsking: a command that only asks and never looks at its context ends after a signal. A command that writes takes as long as it needs.
func TestAsking(t *testing.T) {
	for how, want := range map[string]string{"asks": "last", "writes": "whole", "ends": "whole"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			for s, code := range map[os.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), asks+"="+how)
				out := valuetest.Must(cmd.StdoutPipe())
				valuetest.OK(t, cmd.Start())
				lines := bufio.NewScanner(out)
				valuetest.DeepEqual(t, []any{lines.Scan(), lines.Text()}, []any{true, "ready"}, "it")
				valuetest.OK(t, cmd.Process.Signal(s))
				said := ""
				for lines.Scan() {
					said += lines.Text()
				}
				if _ = cmd.Wait(); said != want || cmd.ProcessState.ExitCode() != code {
					t.Errorf("%v: it says %q and ends with %d", s, said, cmd.ProcessState.ExitCode())
				}
			}
		})
	}
}
