package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/layouts"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/measuring"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/artifacts"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/explain"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/likeness"
	"github.com/neurolens/neurolens/query/operators"
)

var update = flag.Bool("update", false, "write query/COLUMNS.md and the golden screens anew")

// columnsHead is what stands above the tables of columns.
const columnsHead = "# Columns of answers\n\n" +
	"What `--format json`, `jsonl`, `csv` and `plain` print, column by column. A time is text, as RFC 3339 in UTC; in `csv` and `plain` a list or\n" +
	"a map is JSON. A unit \"of the row\" stands in the row's own column `unit`. What is not known is NULL: `null` in JSON, and empty in `csv` and\n" +
	"`plain`.\n\n" +
	"`ls` and `show` give columns of runs as they are stored: [FORMAT.md](../schema/FORMAT.md) lists these. With\n" +
	"`--metric a,b` of `bench` and `ls` each metric has two columns behind the others, [metric.NAME and metric.NAME.unit](../docs/metrics.md#what-tables-show).\n\n" +
	"The tables are made of the fields in the code: `go test ./cmd/neurolens -run TestColumns -update` writes this page.\n"

// TestColumns: COLUMNS.md says what each column of an answer means, and is what the fields of the answers say.
func TestColumns(t *testing.T) {
	t.Parallel()
	want := columnsHead +
		columnsSection(t, "bench", "One row for each point of the session, and each side of it where there are two.", query.SessionPointFields()) +
		columnsSection(t, "bisect", "One row for each commit that may be the first changed one; where none is, for each point.", measuring.BisectFields()) +
		columnsSection(t, "compare", "One row for each pair of points and each metric. With `--by`, groups have columns of their own.", compare.Fields(true)) +
		columnsSection(t, "discover", "One row for each variant of a benchmark, and for each tree of a tool; with `-v` also for each file that was not taken.", screens.ManifestFields()) +
		columnsSection(t, "explain", "One row for the point that is explained, and one for each thing in which its sides differ, of any kind.", explain.Fields()) +
		columnsSection(t, "export", "One row for each file that was written.", screens.ExportedFields()) +
		columnsSection(t, "history", "One row for each session of a series: a point on a machine as to a metric.", history.Fields()) +
		columnsSection(t, "ingest --list-formats", "One row for each format.", screens.FormatFields()) +
		columnsSection(t, "ls --by", "One row for each group. Its keys come first, and a column of the name of a key is left out.", (&query.Grouping{}).Fields()) +
		columnsSection(t, "ls --by --best", "One row for each group, with its best point. Its keys come first, and a column of the name of a key is left out.", (&query.Grouping{Best: true}).Fields()) +
		columnsSection(t, "ls --like", "One row for each profiled run, the nearest first.", likeness.Fields()) +
		columnsSection(t, "show --ops", "One row for each operator of the run.", operators.Fields()) +
		columnsSection(t, "report --check", "One row for each thing that is wrong in a file.", layouts.ProblemFields()) +
		columnsSection(t, "show --files", "One row for each file that the run left.", artifacts.Fields())
	path := filepath.Join("..", "..", "query", "COLUMNS.md")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the fields say: write it anew with -update. Want\n%s", path, want)
	}
}

// columnsSection is a heading, a sentence and a table of columns. Each is described, in a sentence without its end.
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
