// Command neurolens runs benchmark sweeps, keeps every run in an append-only Parquet store, and answers questions about
// the runs. It is the only place that joins the packages runner, ingest and query. Each command is a file here, with its options
// and its run. term.Printer prints all results.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/sandbox"
	"github.com/neurolens/neurolens/runner"
)

func main() {
	if code, handled := runChild(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(execute(os.Args[1:]))
}

// runChild runs one of the child processes that the program starts of itself, if argv asks for one.
func runChild(argv []string) (code int, handled bool) {
	if code, handled := runner.Main(argv); handled {
		return code, true
	}
	return sandbox.Main(argv, extractChild(sqlChild))
}

// execute runs a command line with the streams of the process and returns its exit code.
func execute(args []string) int {
	a := &app{
		stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, now: time.Now,
		terminal: term.IsTerminal(os.Stdout), errTerminal: term.IsTerminal(os.Stderr), width: term.TerminalWidth(os.Stdout, os.Getenv),
		errSize: func() (columns, rows int) { return term.TerminalSize(os.Stderr) },
	}
	if a.terminal {
		a.pager = term.NewPager(os.Stdout, os.Stderr, func() (columns, rows int) { return term.TerminalSize(os.Stdout) })
		a.stdout = a.pager
		if a.errTerminal {
			a.stderr = a.pager.Stderr()
		}
	}
	a.stdout, a.stderr = term.ASCIIWriter(a.stdout, a.terminal, os.Getenv), term.ASCIIWriter(a.stderr, a.errTerminal, os.Getenv)
	return a.run(args)
}

// run executes one command line until it is done or the user interrupts it.
func (a *app) run(args []string) int {
	a.args = args
	ctx, stop := signals(context.Background(), func() { a.temporary.Remove(); a.pager.Wait() })
	defer stop()
	defer a.temporary.Remove()
	cmd := newRootCommand(a)
	if help.IsCompletion(args) {
		if err := help.PrepareCompletion(cmd, a.readStores); err != nil {
			printError(a.stderr, err)
			return exitCode(err)
		}
	}
	cmd.SetArgs(withStandardOutput(cmd, args))
	out := &term.ErrorKeeper{To: a.stdout}
	cmd.SetOut(out)
	cmd.SetErr(a.stderr)
	err := cmd.ExecuteContext(ctx)
	if written := cmp.Or(out.Err, a.pager.Close()); err == nil && written != nil {
		err = fmt.Errorf("writing to standard output: %w", written)
	}
	if a.pager.Left() && (errors.Is(err, syscall.EPIPE) || exitCode(err) == exitPipe) {
		err = nil // the user has seen enough
	}
	code := exitCode(err)
	if errors.Is(err, syscall.EPIPE) && a.temporary.Used() {
		code = exitPipe
	}
	// An error that follows from an interrupt is not reported, unless a run could not be stored.
	if stopped := interrupted(ctx); stopped != 0 && code != exitStore {
		code = stopped
	}
	if err != nil && !errors.Is(err, context.Canceled) && code != exitPipe {
		printError(a.stderr, err)
	}
	return code
}

// version is the version of the next release.
const version = "0.1.0"

// printError prints an error in one line that cannot control the terminal.
func printError(w io.Writer, err error) {
	if message := err.Error(); message != "" {
		fmt.Fprintf(w, "neurolens: %s\n", term.Message(message))
	}
}
