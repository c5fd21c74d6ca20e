package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/query/sandbox"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
)

// defaultMemory bounds DuckDB for the SQL of a user, so that a benchmark on the same machine keeps its memory.
const defaultMemory = "4GiB"

func newQueryCommand(a *app) *cobra.Command {
	var memory string
	cmd := &cobra.Command{
		Use:   "query SQL",
		Short: "Run read-only SQL over runs, samples, samples_long and ops",
		Long: `Answer one SELECT statement in DuckDB's SQL over the runs of the store. Nothing
outside the store can be read, and nothing can be written.

The views are:
  runs          one row per run
  samples       one row per run and metric, with a list of its values
  samples_long  one row per sample
  ops           one row per operator of a profiled run

num(x) reads a parameter as a number. --format arrow writes an Arrow IPC stream
of any length. The query runs in a process of its own. That process is ended if
it uses 20 % more memory than --memory-limit, and at most 2 seconds after
Ctrl-C. neurolens help sql has examples.`,
		Example: `  neurolens query "SELECT batch_size, unit, median(p50) FROM runs GROUP BY ALL"
  neurolens query --format arrow "FROM samples_long" > samples.arrows`,
		Args: arguments(1, 1, "one SQL text (quote it)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			limit, err := schema.ParseBytes(memory)
			if err == nil && limit < minMemoryLimit {
				err = fmt.Errorf("want at least %s", schema.ForPeople(minMemoryLimit, "B"))
			}
			if err != nil {
				return usageErrorf("--memory-limit %q: %w", memory, err)
			}
			format, err := a.answerFormat("query")
			if err != nil {
				return err
			}
			err = a.answerInChild(cmd.Context(), question{
				Stores: a.readStores(), SQL: args[0], Format: format, Terminal: a.terminal, Width: a.width, Color: a.color, CSVRaw: a.csvRaw,
			}, limit)
			if errors.Is(err, sql.ErrMemory) {
				return fmt.Errorf("%w of %s; --memory-limit raises it", err, memory)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&a.format, "format", "", "print as `FORMAT`: "+strings.Join(append(slices.Clone(term.Formats), string(export.Arrow)), " ")+" (default: table)")
	cmd.Flags().StringVar(&memory, "memory-limit", defaultMemory, "use at most `SIZE` of memory, such as 512MiB; more goes to a temporary file")
	return cmd
}

// minMemoryLimit is the smallest --memory-limit, in bytes. With less, DuckDB may fail before it can say that it lacks memory.
const minMemoryLimit = 8 << 20

// answerFormat returns the format asked for, of a command whose answer may be an Arrow stream.
func (a *app) answerFormat(command string) (string, error) {
	if a.format != string(export.Arrow) {
		format, err := a.outputFormat()
		if err != nil && a.format != "" {
			err = fmt.Errorf("%w %s", err, export.Arrow) // these commands have it besides
		}
		if err != nil && a.format == string(export.Parquet) {
			err = fmt.Errorf("%w; neurolens export writes parquet", err)
		}
		return format, err
	}
	if a.terminal {
		return "", usageErrorf("%s: an Arrow stream cannot be shown on a terminal: redirect the output", command)
	}
	return a.format, nil
}

// question is a text of SQL for the process that answers it.
type question struct {
	Stores   []string
	SQL      string
	Format   string
	Terminal bool // stdout is one, of Width columns
	Width    int
	Color    string
	CSVRaw   bool  // as in app
	Memory   int64 // bytes that DuckDB may use
	TempDir  string
}

// answered is how an answer ended, as exitCode and the error say it.
type answered struct {
	Code    int
	Message string
	Memory  bool // it was for lack of memory
}

// reportedError is an error of another process, with the exit code that it has there.
type reportedError struct {
	code    int
	message string
}

func (e reportedError) Error() string { return e.message }

const (
	minProcessMemory = 192 << 20 // of a process that answers, whatever the limit
	idleMemory       = 80 << 20  // that it holds before it begins
)

// processMemory returns how much a process that answers may hold, in bytes, under a --memory-limit. It is ended when it holds
// more.
func processMemory(limit int64) int64 { return max(limit+limit/5, minProcessMemory) }

// duckMemory returns how much of that DuckDB is told that it may use: it takes up to half as much again, and what it answers
// takes memory too.
func duckMemory(limit int64) int64 { return min((processMemory(limit)-idleMemory)/3*2, limit) }

// answerInChild has a process of its own answer: DuckDB takes more memory than it is given, does not let itself be interrupted
// everywhere, and crashes, and a text of SQL can bring each of that about.
func (a *app) answerInChild(ctx context.Context, q question, limit int64) error {
	job := sandbox.Job{Stdout: a.stdout, Grace: signalGrace, Memory: processMemory(limit)}
	q.Memory = duckMemory(limit)
	if dir, err := a.temporary.Dir(); err == nil && dir != nil { // what fits in memory needs none
		q.TempDir, job.Scratch, job.Keep = dir.Path, dir.Path, dir.Lock
	}
	job.Argument = q
	var done answered
	swept := files.SweepScratchInBackground()
	err := sandbox.Run(ctx, job, &done)
	<-swept
	crash, crashed := errors.AsType[*sandbox.Crash](err)
	switch {
	case errors.Is(err, sandbox.ErrMemory), done.Memory:
		return sql.ErrMemory
	case crashed && crash.Signal == "SIGKILL":
		return errors.New("query: the process that answers was killed, as the system does when memory runs out")
	case crashed && crash.Signal != "":
		return fmt.Errorf("query: DuckDB crashed on this query (%s)", crash.Signal)
	case err != nil:
		return fmt.Errorf("query: %w", err)
	case done.Code != exitOK:
		return reportedError{done.Code, done.Message}
	}
	return nil
}

// sqlChild answers a question in the process that answerInChild starts.
func sqlChild(ctx context.Context, argument []byte) any {
	var q question
	if err := json.Unmarshal(argument, &q); err != nil {
		return answered{Code: exitOther, Message: err.Error()}
	}
	debug.SetMemoryLimit(q.Memory / 4)
	a := &app{stdout: os.Stdout, stderr: io.Discard, getenv: os.Getenv, now: time.Now, terminal: q.Terminal, width: q.Width, csvRaw: q.CSVRaw, color: q.Color}
	err := a.answer(ctx, q)
	switch {
	case err == nil:
		return answered{}
	case errors.Is(err, syscall.EPIPE):
		return answered{Code: exitPipe}
	}
	return answered{exitCode(err), err.Error(), errors.Is(err, sql.ErrMemory)}
}

// answer answers a question on stdout.
func (a *app) answer(ctx context.Context, q question) error {
	db, err := query.Open(ctx, q.Stores, query.Options{MemoryLimit: q.Memory, TempDir: q.TempDir})
	if err != nil {
		return err
	}
	// It is not closed: the process ends, and what it leaves in the directory is the parent's to remove.
	if q.Format == string(export.Arrow) {
		return sql.SelectArrow(ctx, db, q.SQL, a.stdout)
	}
	t, err := sql.Select(ctx, db, q.SQL)
	if err != nil {
		return err
	}
	return a.print(q.Format, t, func() term.View { return term.TableView(t, a.page()) })
}
