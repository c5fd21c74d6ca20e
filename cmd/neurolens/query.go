package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
)

// defaultMemory is what a text of SQL may use of a machine that is there to measure.
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
		RunE: func(cmd *cobra.Command, args []string) error { return runQuery(a, cmd, args[0], memory) },
	}
	cmd.Flags().StringVar(&a.format, "format", "", "print as `FORMAT`: "+strings.Join(append(slices.Clone(term.Formats), string(export.Arrow)), " ")+" (default: table)")
	cmd.Flags().StringVar(&memory, "memory-limit", defaultMemory, "use at most `SIZE` of memory, such as 512MiB; more goes to a temporary file")
	return cmd
}

// minMemoryLimit is the smallest --memory-limit, in bytes. With less, DuckDB may fail before it can say that it lacks memory.
const minMemoryLimit = 8 << 20

func runQuery(a *app, cmd *cobra.Command, text, memory string) error {
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
	err = a.inPart(cmd.Context(), question{
		Stores: a.readStores(), SQL: text, Format: format, Terminal: a.terminal, Width: a.width, Color: a.color, CSVRaw: a.csvRaw,
	}, limit)
	if errors.Is(err, sql.ErrMemory) {
		return fmt.Errorf("%w of %s; --memory-limit raises it", err, memory)
	}
	return err
}

// answerFormat is the format asked for, of a command whose answer may be an Arrow stream.
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
