package views

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// TestEveryWarningIsExplained: a word below a table says what it means.
func TestEveryWarningIsExplained(t *testing.T) {
	for _, word := range []string{
		probe.WarnLoad, probe.WarnGovernor, probe.WarnThrottled, probe.WarnForeignGPU, task.WarnLeftRunning, task.WarnAppliedUnknown,
		python.WarnFirstCall, python.WarnLazyResult, python.WarnUnseeded, python.WarnConfigIgnored,
		schema.WarnUnchecked,
		runner.WarnFileChanged,
		stat.WarnSpread, stat.WarnDrift, stat.WarnModes, stat.WarnAutocorrelation, stat.WarnQuantised, stat.WarnShort, stat.WarnSlowStart, stat.WarnUnsteady,
		computedIn + "fp32",
	} {
		if WarningMeaning(word) == "" {
			t.Errorf("%s has no meaning", word)
		}
	}
}

// TestFirstCallHasItsTimes: the warning has the time of the first call and of the later calls.
func TestFirstCallHasItsTimes(t *testing.T) {
	run := &schema.Run{Env: schema.Env{Facts: map[string]string{python.FactFirstCall: "10100000"}}}
	run.Metrics = []schema.Metric{{Name: schema.PrimaryMetric, Unit: "ns", Summary: schema.Summary{P50: new(73.0)}}}
	if text := WarningOf(run, python.WarnFirstCall); !strings.HasSuffix(text, "(10.1 ms, then 73.0 ns)") {
		t.Errorf("%s", text)
	}
	run.Env.Facts[python.FactUnseeded] = "numpy.random.default_rng"
	if text := WarningOf(run, python.WarnUnseeded); !strings.HasSuffix(text, "seed it in the benchmark (numpy.random.default_rng)") {
		t.Errorf("%s", text)
	}
	for _, word := range []string{stat.WarnSpread, python.WarnLazyResult} {
		if text := WarningOf(run, word); text != WarningText(word) {
			t.Errorf("%s: %s", word, text)
		}
	}
	run.Metrics = nil
	if text := WarningOf(run, python.WarnFirstCall); text != WarningText(python.WarnFirstCall) {
		t.Errorf("without a latency: %s", text)
	}
}

// TestNotesShareALine: one word of warning is explained, several share a line. Other words are explained in any case.
func TestNotesShareALine(t *testing.T) {
	t.Parallel()
	n := Notes{}
	n.EveryPoint("load", WarningMeaning("load"))
	n.Add("timeout", "it took too long")
	want := []string{"timeout  it took too long", "load     (all points) " + WarningMeaning("load"), ""}
	if got := n.Lines(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	n.Add("drift", WarningMeaning("drift"))
	want = []string{"timeout   it took too long", "warnings  drift, load (all points): neurolens help WORD explains each", ""}
	if got := n.Lines(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestNotesAboutWork: a warning that doubts what was measured is explained beside any number of others.
func TestNotesAboutWork(t *testing.T) {
	t.Parallel()
	n := Notes{}
	for _, word := range []string{"computed_in_fp32", "drift", "lazy_result", "load"} {
		n.EveryPoint(word, WarningMeaning(word))
	}
	want := []string{
		"computed_in_fp32  (all points) " + WarningMeaning("computed_in_fp32"),
		"lazy_result       (all points) " + WarningMeaning("lazy_result"),
		"warnings          drift (all points), load (all points): neurolens help WORD explains each", "",
	}
	if got := n.Lines(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestWarningsPage: the page about warnings has each of them, with its meaning, and no others.
func TestWarningsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "warnings.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if row, ok := strings.CutPrefix(strings.TrimSpace(line), "| `"); ok {
			word, meaning, _ := strings.Cut(strings.TrimSuffix(row, " |"), "` | ")
			rows[word] = meaning
		}
	}
	for _, word := range WarningWords() {
		if got, want := rows[word], WarningMeaning(word); got != want {
			t.Errorf("docs/warnings.md says of %s\n%q, want\n%q", word, got, want)
		}
		delete(rows, word)
	}
	delete(rows, computedIn+"FORMAT")
	if len(rows) > 0 {
		t.Errorf("docs/warnings.md has %v, which no run is given", rows)
	}
}

// TestEveryWarningHasAMeaning: the constants Warn... of the runner, the statistics and the importers are the words that have a meaning,
// with the one that this package adds.
func TestEveryWarningHasAMeaning(t *testing.T) {
	root, declared := filepath.Join("..", "..", "..", ".."), []string{Means}
	for _, folder := range []string{"runner", "schema", "ingest"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
				declared = append(declared, warningsIn(t, file)...)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	words := WarningWords()
	slices.Sort(declared)
	slices.Sort(words)
	if !slices.Equal(declared, words) {
		t.Errorf("the code declares %v, these have a meaning: %v", declared, words)
	}
}

// warningsIn returns the values of the constants Warn... of a file.
func warningsIn(t *testing.T, file string) (values []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is {
			return true
		}
		for i, name := range spec.Names {
			if !regexp.MustCompile(`^Warn[A-Z]`).MatchString(name.Name) || i >= len(spec.Values) {
				continue
			}
			if text, is := spec.Values[i].(*ast.BasicLit); is && text.Kind == token.STRING {
				value, err := strconv.Unquote(text.Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, value)
			}
		}
		return true
	})
	return values
}
