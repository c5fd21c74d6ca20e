package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/progress"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema/valuetest"
)

var update = flag.Bool("update", false, "write query/COLUMNS.md and the golden screens anew")

// columnsHead is what stands above the tables of columns.
const columnsHead = "# Columns of answers\n\n" +
	"This page lists the columns that `--format json`, `jsonl`, `csv` and `plain` print for `bench`, `bisect`, `compare`, `discover`, `explain`,\n" +
	"`export`, `history`, `ingest --list-formats`, `ls --by`, `ls --like`, `report --check`, `show --ops`, `compare --ops` and `show --files`. Columns of\n" +
	"other commands are not listed here.\n\n" +
	"* Times are text in RFC 3339 format, in UTC.\n" +
	"* In `csv` and `plain`, lists and maps are JSON.\n" +
	"* The unit \"of the row\" means that the column `unit` of the same row has the unit.\n" +
	"* Unknown values are NULL: `null` in JSON, an empty field in `csv` and `plain`.\n\n" +
	"`ls` and `show` print the columns of runs as they are stored; [FORMAT.md](../schema/FORMAT.md) lists them. With `--metric a,b`, `bench` and `ls`\n" +
	"add two columns per metric at the end, [metric.NAME and metric.NAME.unit](../docs/metrics.md#what-tables-show). `ls --pivot` has\n" +
	"[four columns for each value of its axis](../docs/filters.md#a-grid).\n\n" +
	"The tables are generated from the code: `go test ./cmd/neurolens -run TestColumns -update` writes this page.\n"

// TestColumns: COLUMNS.md says what each column of an answer means, and is what the fields of the answers say.
func TestColumns(t *testing.T) {
	t.Parallel()
	want := columnsHead +
		columnsSection(t, "bench", "One row per point of the session and, if the session has two sides, per side.", query.SessionPointFields()) +
		columnsSection(t, "bisect", "One row per commit that may be the first changed one or, if there is none, per point.", progress.BisectFields()) +
		columnsSection(t, "compare", "One row per pair of points and metric. With `--by`, the rows are groups with other columns.", compare.Fields(true)) +
		columnsSection(t, "discover", "One row per variant of a benchmark and per folder of a tool; with `-v` also per file that was skipped.", views.ManifestFields()) +
		columnsSection(t, "explain", "One row for the point that is explained, and one for each difference between its sides.", compare.ExplainFields()) +
		columnsSection(t, "export", "One row per file that was written.", views.ExportedFields()) +
		columnsSection(t, "history", "One row per session of a series. A series is one metric of one point on one machine.", history.Fields()) +
		columnsSection(t, "ingest", "One row per file.", views.IngestFields()) +
		columnsSection(t, "ingest --list-formats", "One row per format.", views.FormatFields()) +
		columnsSection(t, "ls --by", "One row per group. The keys come first; a column with the same name as a key is left out.", (&query.Grouping{}).Fields()) +
		columnsSection(t, "ls --by --best", "One row per group, with its best point. The keys come first; a column with the same name as a key is left out.", (&query.Grouping{Best: true}).Fields()) +
		columnsSection(t, "ls --like", "One row per profiled run, the most similar first.", summary.SimilarFields()) +
		columnsSection(t, "plot", "One row per mark of the chart. `value` is there only for `plot heatmap`.", markFields(&chart.Figure{Kind: chart.Heatmap})) +
		columnsSection(t, "show --ops", "One row per operator of the run.", summary.OperatorFields()) +
		columnsSection(t, "compare --ops", "One row per operator of either side, by its name without template arguments.", summary.OperatorChangeFields()) +
		columnsSection(t, "report --check", "One row per problem in a file.", problemFields()) +
		columnsSection(t, "show --files", "One row per file that the run left.", query.ArtifactFields()) +
		columnsSection(t, "store compact", "One row, about the new store.", compactFields()) +
		columnsSection(t, "store info", "One row per store. ZONE stands for the folders of a store, such as runs, samples and events.", views.StoreFields([]string{"ZONE"})) +
		columnsSection(t, "store merge", "One row per store that was merged. `store unquarantine` has the same columns; its first one is `from`.", mergeFields("store")) +
		columnsSection(t, "store prune-artifacts", "One row, about the store.", pruneFields()) +
		columnsSection(t, "store repair", "One row per action.", views.RepairFields()) +
		columnsSection(t, "store seal", "One row per new sealed file.", views.SealedFields()) +
		columnsSection(t, "store verify", "One row per problem.", views.FindingFields())
	path := filepath.Join("..", "..", "query", "COLUMNS.md")
	if *update {
		valuetest.OK(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got := valuetest.Must(os.ReadFile(path))
	valuetest.Equal(t, string(got), want, path, "is not what the fields say: write it anew with -update. Want")
}

// columnsSection returns a heading, a sentence and a table of columns. Each is described, in a sentence without its end.
func columnsSection[Row any](t *testing.T, command, text string, fields []answer.Field[Row]) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| column | type | unit | meaning |\n|---|---|---|---|\n", command, text)
	seen := map[string]bool{}
	for _, f := range fields {
		if seen[f.Name] || f.Meaning == "" || strings.HasSuffix(f.Meaning, ".") {
			t.Errorf("%s: column %s stands there twice, or means %q: want a sentence without its end", command, f.Name, f.Meaning)
		}
		seen[f.Name] = true
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Type, f.Unit, strings.ReplaceAll(f.Meaning, "|", `\|`))
	}
	return b.String()
}
