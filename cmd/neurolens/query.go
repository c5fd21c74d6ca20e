package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

// defaultMemory is what a text of SQL may use of a machine that is there to measure.
const defaultMemory = "4GiB"

func newQueryCommand(a *app) *cobra.Command {
	var memory string
	cmd := &cobra.Command{
		Use:   "query SQL",
		Short: "Read-only SQL over runs, samples, samples_long and ops",
		Long: `Answer one SELECT (DuckDB's SQL) over the views of the store: runs, one row a
run; samples, one row a run and metric, with its values; samples_long, one row a
sample; ops, one row an operator of a profiled run. num(x) reads a parameter as
a number. Nothing outside the store can be read and nothing can be written.
--format arrow writes an Arrow IPC stream, which may be of any length.`,
		Example: `  neurolens query "SELECT batch_size, median(p50) FROM runs GROUP BY ALL"
  neurolens query --format arrow "FROM samples_long" | python3 load.py`,
		Args: arguments(1, 1, "one SQL text (quote it)"),
		RunE: func(cmd *cobra.Command, args []string) error { return runQuery(a, cmd, args[0], memory) },
	}
	cmd.Flags().StringVar(&memory, "memory-limit", defaultMemory, "at most so much memory, a `SIZE` as 512MiB; the rest goes to a temporary file")
	return cmd
}

func runQuery(a *app, cmd *cobra.Command, text, memory string) error {
	limit, err := parseBytes(memory)
	if err != nil {
		return usageErrorf("--memory-limit %q: %w", memory, err)
	}
	answer, err := a.answerer()
	if err != nil {
		return err
	}
	db, err := query.Open(cmd.Context(), a.readStores(), query.Options{MemoryLimit: limit})
	if err != nil {
		return err
	}
	defer db.Close()
	err = answer(cmd.Context(), db, text)
	if errors.Is(err, query.ErrMemory) {
		return fmt.Errorf("%w of %s; --memory-limit raises it", err, memory)
	}
	return err
}

// answerer is what answers SQL in the format asked for.
func (a *app) answerer() (func(ctx context.Context, db *query.DB, text string) error, error) {
	if a.format == string(query.FormatArrow) {
		if a.terminal {
			return nil, usageErrorf("query: Arrow does not belong on a terminal: redirect the output")
		}
		return func(ctx context.Context, db *query.DB, text string) error { return db.SQLArrow(ctx, text, a.stdout) }, nil
	}
	format, err := a.outputFormat()
	return func(ctx context.Context, db *query.DB, text string) error {
		t, err := db.SQL(ctx, text)
		if err != nil {
			return err
		}
		return a.print(format, t, func() view { return a.tableView(t) })
	}, err
}

// parseBytes reads a size: a number of bytes, or one with a unit.
func parseBytes(text string) (int64, error) {
	q, err := schema.ParseQuantity(text)
	if err != nil {
		return 0, err
	}
	unit, factor := "B", 1.0
	if q.Unit != "" {
		unit, factor, _ = schema.StoredUnit(q.Unit)
	}
	bytes := q.Value * factor
	if unit != "B" || !(bytes >= 1 && bytes < 1<<62) {
		return 0, errors.New("want a size such as 512MiB")
	}
	return int64(bytes), nil
}
