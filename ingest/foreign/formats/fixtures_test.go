package formats

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

var update = flag.Bool("update", false, "write what is read in place of what is wanted; look at the difference")

// wanted is the file in a folder of fixtures with the expected result.
const wanted = "want.txt"

// Golden reads the folder fixtures/results/NAME of the repository, whose root it is given, and compares the result with
// its want.txt. It returns the number of runs of each format; for formats that are only read together with others, the
// number of files.
func Golden(t *testing.T, formats []foreign.Format, root, name string) map[string]int {
	t.Helper()
	dir := filepath.Join(root, "fixtures", "results", name)
	got, read := ReadAll(t, formats, os.DirFS(dir), wanted, "README.md")
	Compare(t, filepath.Join(dir, wanted), got)
	return read
}

// Compare compares a text with a file, line by line.
func Compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := lineAt(gotLines, i), lineAt(wantLines, i)
		if g != w {
			t.Fatalf("%s, line %d:\n got %s\nwant %s", file, i+1, g, w)
		}
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// All reads every file of a folder and describes the reports and all runs. It also returns the number of runs, or of
// files without runs, for each format.
func ReadAll(t *testing.T, formats []foreign.Format, folder fs.FS, except ...string) (text string, read map[string]int) {
	t.Helper()
	var b strings.Builder
	read = map[string]int{}
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(except, name) {
			return err
		}
		b.WriteString("# " + name + "\n")
		format, report, runs, err := One(formats, folder, name)
		switch {
		case format == nil:
			fmt.Fprintf(&b, "refused: %v\n\n", err)
			return nil
		case format.Read == nil:
			read[format.Name]++
			fmt.Fprintf(&b, "%s: %s\n\n", format.Name, format.Side)
			return nil
		}
		read[format.Name] += len(runs)
		b.WriteString(Report(report, err))
		for i := range runs {
			b.WriteString(Run(&runs[i]))
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), read
}

// Input returns a text as a file without a folder.
func Input(tb testing.TB, name, text string) *foreign.Input {
	tb.Helper()
	in, err := foreign.FromReader(strings.NewReader(text), name, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return in
}

// Read reads a file with a format.
func Read(in *foreign.Input, format foreign.Format) (foreign.Report, []schema.Run, error) {
	var runs []schema.Run
	report, err := foreign.NewReader(foreign.Added{}, nil).Read(in, &format, func(valid schema.Valid) bool {
		runs = append(runs, valid.Run())
		return true
	})
	return report, runs, err
}

// One reads a file of a folder. format is nil unless exactly one format recognises it.
func One(formats []foreign.Format, folder fs.FS, name string) (*foreign.Format, foreign.Report, []schema.Run, error) {
	in, err := foreign.Open(context.Background(), folder, name, nil)
	if err != nil {
		return nil, foreign.Report{}, nil, err
	}
	defer in.Close()
	format, err := in.Format(formats)
	if err != nil || format.Read == nil {
		return format, foreign.Report{}, nil, err
	}
	report, runs, err := Read(in, *format)
	return format, report, runs, err
}

// Report describes the report of a file.
func Report(r foreign.Report, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %d runs, %d samples", r.Format, r.Version, r.Runs, r.Samples)
	for _, left := range foreign.LeftOuts(&r) {
		b.WriteString("; " + left.String())
	}
	if r.Refused > 0 {
		fmt.Fprintf(&b, "; %d refused", r.Refused)
	}
	b.WriteString("\n")
	for _, what := range r.Noted() {
		fmt.Fprintf(&b, "  note %d: %s\n", r.Notes[what], what)
	}
	for _, refusal := range r.Refusals {
		fmt.Fprintf(&b, "  refused %s\n", refusal)
	}
	if err != nil {
		fmt.Fprintf(&b, "  ended: %v\n", err)
	}
	return b.String()
}

// Point describes the point of a run.
func Point(r *schema.Run) string {
	words := []string{r.Benchmark}
	put := func(name, text string) {
		if text != "" {
			words = append(words, name+"="+text)
		}
	}
	put("variant", r.Variant)
	put("backend", r.Backend)
	put("model", r.Model)
	put("precision", r.Precision)
	if r.BatchSize != nil {
		put("batch_size", strconv.FormatInt(*r.BatchSize, 10))
	}
	if r.SeqLen != nil {
		put("seq_len", strconv.FormatInt(*r.SeqLen, 10))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		put("param."+name, r.Params[name])
	}
	return strings.Join(words, " ")
}

// Run describes a run: every column that is not NULL, its metrics and ops. Its position in the file is its place among
// the others.
func Run(r *schema.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s\n", Point(r))
	for i, value := range schema.RunRow(r, "") {
		c := schema.Runs.Columns[i]
		switch c.Name {
		case "run_id", "session_id", "point_id", "position_index", "source", "purpose", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params":
			continue
		}
		if value != nil && !c.Derived {
			fmt.Fprintf(&b, "  %s: %s\n", c.Name, oneLine(value))
		}
	}
	for i := range r.Metrics {
		b.WriteString("  " + Metric(&r.Metrics[i]) + "\n")
	}
	for i := range r.Ops {
		b.WriteString("  " + op(&r.Ops[i]) + "\n")
	}
	return b.String()
}

func oneLine(value any) string {
	text := fmt.Sprint(value)
	return strings.ReplaceAll(text, "\n", `\n`)
}

const maxValues = 12

// Metric describes a metric: its first samples, or its aggregates.
func Metric(m *schema.Metric) string {
	var b strings.Builder
	fmt.Fprintf(&b, "metric %s [%s] better=%s level=%s", m.Name, m.Unit, m.Better, m.Level)
	if m.Clock != "" {
		b.WriteString(" clock=" + m.Clock)
	}
	if values := m.Values(); values != nil {
		fmt.Fprintf(&b, " n=%d:", len(values))
		for i, v := range values {
			if i == maxValues {
				b.WriteString(" …")
				break
			}
			b.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	if n := max(len(m.WarmupTicks), len(m.WarmupReals)); n > 0 {
		fmt.Fprintf(&b, " warmup n=%d", n)
	}
	if n := len(m.AtNS); n > 0 {
		fmt.Fprintf(&b, " at n=%d first=%d", n, m.AtNS[0])
	}
	if n := m.IterationsPerSample; len(n) > 0 {
		fmt.Fprintf(&b, " iterations=%v", n[:min(len(n), maxValues)])
	}
	for _, a := range []struct {
		name  string
		value *float64
	}{
		{"min", m.Summary.Min},
		{"max", m.Summary.Max},
		{"mean", m.Summary.Mean},
		{"stddev", m.Summary.StdDev},
		{"p25", m.Summary.P25},
		{"p50", m.Summary.P50},
		{"p75", m.Summary.P75},
		{"p90", m.Summary.P90},
		{"p95", m.Summary.P95},
		{"p99", m.Summary.P99},
		{"mad", m.Summary.MAD},
	} {
		if a.value != nil {
			fmt.Fprintf(&b, " %s=%s", a.name, strconv.FormatFloat(*a.value, 'g', -1, 64))
		}
	}
	if m.Summary.N != nil {
		fmt.Fprintf(&b, " of n=%d", *m.Summary.N)
	}
	return b.String()
}

func op(o *schema.Op) string {
	integer := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return strconv.FormatInt(*n, 10)
	}
	counters := make([]string, 0, len(o.Counters))
	for _, name := range slices.Sorted(maps.Keys(o.Counters)) {
		counters = append(counters, name+"="+strconv.FormatFloat(o.Counters[name], 'g', -1, 64))
	}
	return fmt.Sprintf("op %d %s type=%s device=%s start=%s duration=%s count=%s kernels=%q %s", o.Index, o.Name, o.Type, o.Device,
		integer(o.StartNS), integer(o.DurationNS), integer(o.Count), o.Kernels, strings.Join(counters, " "))
}

// fuzzReader tries a reader on variations of its fixtures. For any file, there must be no panic, and all runs must be valid:
// foreign.Read refuses others.
func fuzzReader(f *testing.F, format foreign.Format, root, name string) {
	dir := filepath.Join(root, "fixtures", "results", name)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == wanted || d.Name() == "README.md" {
			return err
		}
		content, err := os.ReadFile(file)
		if err == nil && len(content) < 64<<10 {
			f.Add(content)
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		in, err := foreign.FromReader(bytes.NewReader(content), path.Join("folder", "file"), nil)
		if err != nil {
			return
		}
		foreign.Recognize([]foreign.Format{format}, in.Head)
		n := 0
		_, _ = foreign.NewReader(foreign.Added{}, nil).Read(in, &format, func(schema.Valid) bool { // any error is an answer; a panic is none
			n++
			return n < 10_000
		})
	})
}

// Sections reads texts one by one, and all of them in one file, in every order for few and in some orders for many. The
// runs of the file must be the runs of its sections. It returns the first order in which they are not, with the report
// of that file; nil if there is none.
func Sections(formats []foreign.Format, name string, sections [][]byte) (order []int, report string) {
	const maxOrders = 3
	read := func(content []byte) (runs []string, report string) {
		format, said, found, err := One(formats, fstest.MapFS{name: {Data: content}}, name)
		for i := range found {
			runs = append(runs, Run(&found[i]))
		}
		slices.Sort(runs)
		if format == nil {
			return nil, fmt.Sprintf("refused: %v", err)
		}
		return runs, Report(said, err)
	}
	var want []string
	for _, s := range sections {
		runs, _ := read(s)
		want = append(want, runs...)
	}
	slices.Sort(want)
	random := rand.New(rand.NewPCG(uint64(len(want)), 2))
	for n := range maxOrders {
		order := random.Perm(len(sections))
		if n == 0 {
			slices.Sort(order)
		}
		var all []byte
		for _, i := range order {
			all = append(append(all, sections[i]...), '\n')
		}
		if got, report := read(all); !slices.Equal(got, want) {
			without := func(runs, others []string) string {
				for _, r := range runs {
					if !slices.Contains(others, r) {
						return r
					}
				}
				return ""
			}
			return order, fmt.Sprintf("%d runs, want %d\n+ %s- %s%s", len(got), len(want), without(got, want), without(want, got), report)
		}
	}
	return nil, ""
}
