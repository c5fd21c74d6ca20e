package main

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestReportOfHarness: of a result file whose own summary leaves out what became slower, the report counts all.
func TestReportOfHarness(t *testing.T) {
	t.Parallel()
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder of real result files, is not set")
	}
	dir := t.TempDir()
	programtest.Output(t, dir, "ingest", filepath.Join(samples, "seed1_benchmark_harness", "benchmark_test_results_20251105_28ebcda8.json"))
	programtest.Output(t, dir, "report", "--md", "report.md", "--json", "report.json")
	var report struct {
		Counts struct {
			Runs     int
			ByStatus map[string]int `json:"by_status"`
		}
		Comparisons []struct {
			All struct {
				Compared, Slower int
				GeometricMean    float64 `json:"geometric_mean"`
				Median           float64
				SlowestPair      int `json:"slowest_pair"`
			}
		}
		Pairs []struct{ Speedup *float64 }
	}
	valuetest.OK(t, json.Unmarshal(fileText(t, dir, "report.json"), &report))
	sum := 0
	for _, n := range report.Counts.ByStatus {
		sum += n
	}
	valuetest.Equal(t, sum, 503, "counts", report.Counts)
	valuetest.Equal(t, report.Counts.Runs, sum, "counts", report.Counts)
	valuetest.Equal(t, len(report.Comparisons), 1, "comparisons", report.Comparisons)
	all := report.Comparisons[0].All
	rounded := func(v float64, digits int) float64 {
		unit := math.Pow10(digits)
		return math.Round(v*unit) / unit
	}
	if all.Compared != 222 || all.Slower != 102 || rounded(all.GeometricMean, 2) != 1.54 || rounded(all.Median, 2) != 1.05 || rounded(*report.Pairs[all.SlowestPair].Speedup, 4) != .0065 {
		t.Errorf("speed-ups are %+v", all)
	}
}

// nightFiles writes result files of 24 nights: Slow got 15 % slower in night 14, Steady did not change.
func nightFiles(t *testing.T, dir string) {
	random := rand.New(rand.NewPCG(3, 3))
	for night := range 24 {
		text := fmt.Sprintf("pkg: example.com/x\ncommit: %07x%033d\n", 0xabc0000+night, 0)
		for range 4 {
			slow := 1000.
			if night >= 14 {
				slow *= 1.15
			}
			text += fmt.Sprintf("BenchmarkSlow-8 1000 %.1f ns/op\nBenchmarkSteady-8 1000 %.1f ns/op\n", slow*(1+.004*random.NormFloat64()), 500*(1+.004*random.NormFloat64()))
		}
		programtest.WriteFile(t, dir, time.Date(2026, 10, 1+night, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)+".txt", text)
	}
}

// records returns the rows of an answer of a command, by the names of its columns.
func records(t *testing.T, dir string, args ...string) (all []map[string]any) {
	t.Helper()
	valuetest.OK(t, json.Unmarshal([]byte(programtest.Output(t, dir, append(args, "--format", "json")...)), &all))
	return all
}

// TestReportEqualsCommands: the numbers of a report are those of history, compare and ls: in its JSON, in its sentences, and in the marks
// of its charts.
func TestReportEqualsCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	nightFiles(t, dir)
	programtest.Output(t, dir, "ingest", ".", "--machine", "ci-1", "--at", "name")
	programtest.Output(t, dir, "report", "--all", "--json", "all.json", "--html", "all.html")
	var all struct {
		Answer []struct{ Text string }
		Trends []map[string]any
		Points []struct {
			PointID string `json:"point_id"`
			Metrics []struct{ Median float64 }
		}
	}
	valuetest.OK(t, json.Unmarshal(fileText(t, dir, "all.json"), &all))
	rows := records(t, dir, "history")
	locations := map[string][]float64{}
	var changed map[string]any
	at := 0
	for _, row := range rows {
		id := row["point_id"].(string)
		if row["change_point"] == true {
			changed, at = row, len(locations[id])
		}
		locations[id] = append(locations[id], row["location"].(float64))
	}
	median := func(values []float64) float64 {
		values = slices.Sorted(slices.Values(values))
		return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
	trend := all.Trends[0]
	own := locations[trend["point_id"].(string)]
	for _, name := range []string{"point_id", "verdict", "shift", "shift_low", "shift_high", "p_adjusted", "session_id"} {
		valuetest.Equal(t, trend[name], changed[name], name)
	}
	if old, level := trend["old_level"].(float64), trend["level"].(float64); !near(old, median(own[:at])) || !near(level, median(own[at:])) || len(all.Trends) != 2 {
		t.Errorf("levels are %v and %v, the sessions have %v and %v", old, level, median(own[:at]), median(own[at:]))
	}
	if sentence := all.Answer[0].Text; !strings.HasPrefix(sentence, "Slower: example.com/x/Slow, since 2026-10-15, commit abc000d..abc000e: latency 1.00 µs → 1.15 µs, +1") {
		t.Errorf("the report begins with %s", sentence)
	}

	// Each mark of the chart is a session.
	page := string(fileText(t, dir, "all.html"))
	section := page[strings.Index(page, `<section id="trends"`):strings.Index(page, `<section id="next"`)]
	drawn := map[string][]float64{}
	for _, m := range regexp.MustCompile(`data-y="([^"]+)" data-point="([^"]+)" data-command="neurolens ls `).FindAllStringSubmatch(section, -1) {
		value, err := strconv.ParseFloat(m[1], 64)
		valuetest.OK(t, err)
		drawn[m[2]] = append(drawn[m[2]], value)
	}
	for id, values := range locations {
		if marks := drawn[id[:8]]; !slices.EqualFunc(marks, values, near) {
			t.Errorf("%d marks %v, %d sessions %v", len(marks), marks, len(values), values)
		}
	}

	// The points are the medians of ls, and pairs those of compare.
	for _, row := range records(t, dir, "ls", "--by", "point_id") {
		i := slices.IndexFunc(all.Points, func(p struct {
			PointID string `json:"point_id"`
			Metrics []struct{ Median float64 }
		},
		) bool {
			return p.PointID == row["point_id"]
		})
		if got := all.Points[i].Metrics[0].Median; !near(got, row["median"].(float64)) {
			t.Errorf("a point has the median %v, ls %v", got, row["median"])
		}
	}
	base, head := "started_at<2026-10-13", "started_at>=2026-10-15"
	programtest.Output(t, dir, "report", "--against", base, head, "--json", "two.json")
	var two struct{ Pairs []map[string]any }
	valuetest.OK(t, json.Unmarshal(fileText(t, dir, "two.json"), &two))
	of := func(filter string) map[any]float64 { // the medians of ls
		all := map[any]float64{}
		for _, row := range records(t, dir, "ls", "--by", "point_id", filter) {
			all[row["point_id"]] = row["median"].(float64)
		}
		return all
	}
	ofBase, ofHead := of(base), of(head)
	for _, row := range records(t, dir, "compare", base, head) {
		if id := row["head_point_id"]; row["base"] != ofBase[id] || row["head"] != ofHead[id] {
			t.Errorf("compare has %v and %v, ls %v and %v", row["base"], row["head"], ofBase[id], ofHead[id])
		}
		i := slices.IndexFunc(two.Pairs, func(p map[string]any) bool { return p["point_id"] == row["head_point_id"] })
		p := two.Pairs[i]
		change := row["change"].(float64)
		if p["verdict"] != row["verdict"] || !near(p["base"].(float64), row["base"].(float64)) || !near(p["value"].(float64), row["head"].(float64)) || !near(1/p["speedup"].(float64), 1+change) {
			t.Errorf("the report has %v, compare %v", p, row)
		}
	}
}

// TestBestAxis: of three axes of numbers bench compares the one with the largest effect, although the medians only grow with it, and names
// the best point with the factor to the next. The report of the session says the same in HTML, Markdown and JSON.
func TestBestAxis(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "s.yaml", `
suite: s
command: [sh, -c, "echo steps $(( (130 + 40 * ({b} - 1)) * {a} + 20 * ({a} - 1) * ({b} + {c} - 2) ))"]
metrics: {steps: {regex: "steps (.*)", better: lower}}
primary: steps
grid: {a: [1, 2], b: [1, 2], c: [1, 2]}
repeats: 5
iterations: 1
warmup: 0
`)
	text := func(out string) string {
		return strings.ReplaceAll(strings.Join(strings.Fields(strings.NewReplacer("**", "", "→", "->").Replace(html.UnescapeString(out))), " "), " sh ", " ")
	}
	flat := text(programtest.Output(t, dir, "bench", "s.yaml"))
	for _, want := range []string{
		"Lowest median over all axes, by estimate: a=1 b=1 c=1, steps 130, as is that of a=1 b=1 c=2; 95 % interval of the factor 1 to 1, allowing for the choice among 8: another may be as good.",
		"Best: a=1 at all 4 points: a=2 is worse there, closest at b=1 c=1: steps 130 -> 260, +100 % (", "a=1 is a guess. Another axis: neurolens ls --pivot b session=",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("bench does not say %s: %s", want, flat)
		}
		if want, _, _ = strings.Cut(want, " Another axis"); !strings.Contains(text(programtest.Output(t, dir, "report", "--json", "-")), want) {
			t.Errorf("the report as JSON does not say %s", want)
		}
		if !strings.Contains(text(programtest.Output(t, dir, "report", "--md", "-")), want) {
			t.Errorf("the report as Markdown does not say %s", want)
		}
		if !strings.Contains(text(programtest.Output(t, dir, "report", "--html", "-")), want) {
			t.Errorf("the report as HTML does not say %s", want)
		}
	}
	for _, said := range []string{flat, text(programtest.Output(t, dir, "report", "--json", "-"))} {
		if point := strings.Index(said, "Lowest median"); point < 0 || point > strings.Index(said, "Best: a=1") {
			t.Errorf("the best point over all axes does not come first: %s", said)
		}
	}
}

// TestBestSetting: bench and report say with the same sentence which value of an axis that nobody named is best. Its numbers are those of
// compare and of ls --pivot.
func TestBestSetting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "s.yaml", `
suite: s
command: [sh, -c, "echo steps $(( 1000 * {n} / {threads} + 300 * {threads} ))"]
metrics: {steps: {regex: "steps (.*)", better: lower}}
primary: steps
grid: {n: [1, 4, 8], threads: [1, 2, 4]}
repeats: 6
iterations: 1
warmup: 0
`)
	flat := strings.Join(strings.Fields(programtest.Output(t, dir, "bench", "s.yaml")), " ")
	const best = "Best: threads=4 at 2 of 3 points, by −48.8 % to −61.4 % against threads=1. Most at n=8: steps 8300 → 3200, −61.4 % (95 % interval −61.4 % to −61.4 %). " +
		"The next is threads=2, closest at n=4: 2600 against 2200, 1.18 times as good. Elsewhere: threads=2 at n=1."
	if !strings.Contains(flat, best+" Nobody named a baseline: threads=1 is a guess. Another axis: neurolens ls --pivot n session=") {
		t.Errorf("bench ends with %s", flat)
	}
	var report struct{ Answer []struct{ Text string } }
	valuetest.OK(t, json.Unmarshal([]byte(programtest.Output(t, dir, "report", "--json", "-")), &report))
	if text := strings.ReplaceAll(report.Answer[0].Text, "sh n=", "n="); text != best {
		t.Errorf("the report begins with %s", text)
	}
	seen := 0
	for _, row := range records(t, dir, "compare", "--matrix", "threads=1", "session=last") {
		params := row["params"].(map[string]any)
		if params["n"] != "8" || row["head"] != 3200. {
			continue
		}
		if seen++; row["base"] != 8300. || math.Abs(row["change"].(float64)+.614) > 5e-4 || row["verdict"] != "improved" {
			t.Errorf("compare has %v", row)
		}
	}
	for _, row := range records(t, dir, "ls", "--pivot", "threads", "session=last") {
		if row["params"].(map[string]any)["n"] != "4" {
			continue
		}
		if seen++; row["threads=4"] != 2200. || row["threads=2"] != 2600. {
			t.Errorf("the grid has %v", row)
		}
	}
	valuetest.Equal(t, seen, 2)
}

// TestReportNamesChangesFromBaseline: the first paragraph of a sweep with a baseline names what got worse and what failed, with the numbers
// of compare, in every form.
func TestReportNamesChangesFromBaseline(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "s.yaml", `
suite: s
command: [sh, -c, "case {impl}{size} in slow5) echo steps 131;; broken*) exit 4;; *) echo steps 101;; esac"]
metrics: {steps: {regex: "steps (.*)", better: lower}}
primary: steps
baseline: impl=base
grid: {impl: [base, slow, same, broken], size: [1, 5]}
repeats: 6
iterations: 1
warmup: 0
`)
	if bench := programtest.Program(t, dir, "bench", "s.yaml"); bench.Run() == nil {
		t.Error("bench does not fail")
	}
	rows := records(t, dir, "compare", "session=last")
	row := rows[slices.IndexFunc(rows, func(r map[string]any) bool { return r["verdict"] == "regressed" })]
	percent := func(name string) string { return fmt.Sprintf("%+.1f %%", 100*row[name].(float64)) }
	slower := fmt.Sprintf("Worse: impl=slow against impl=base at sh size=5: steps %.4g → %.4g, %s (95 %% interval %s to %s).", row["base"], row["head"], percent("change"), percent("low"), percent("high"))
	var js struct{ Answer []struct{ Text string } }
	valuetest.OK(t, json.Unmarshal([]byte(programtest.Output(t, dir, "report", "--json", "-")), &js))
	valuetest.Equal(t, js.Answer[0].Text, slower)
	valuetest.Equal(t, js.Answer[2].Text, "Failed: 12 of 48 runs, of 2 points, such as sh impl=broken size=1, error: exit status 4.")
	md := programtest.Output(t, dir, "report", "--md", "-")
	page := html.UnescapeString(programtest.Output(t, dir, "report", "--html", "-"))
	for _, a := range js.Answer {
		valuetest.Contains(t, strings.NewReplacer("**", "", "\\", "").Replace(md), a.Text)
		valuetest.Contains(t, strings.ReplaceAll(page, "\u00a0", " "), a.Text)
	}
}

// TestAxesOfReportEqualCommands: each cell of the heat maps of a page, and each mark of its lines, is the median that ls has of the point, and
// its text is what ls --pivot prints.
func TestAxesOfReportEqualCommands(t *testing.T) {
	t.Parallel()
	dir := picturesStore(t)
	medians := map[string]float64{} // of ls, by the id that a mark has
	for _, row := range records(t, dir, "ls", "--by", "point_id", "session=last") {
		medians[row["point_id"].(string)[:8]] = row["median"].(float64)
	}
	page := programtest.Output(t, dir, "report", "--html", "-")
	_, section, found := strings.Cut(page, `<section id="axes"`)
	section, _, _ = strings.Cut(section, "</section>")
	if !found {
		t.Fatal("the page has no charts over its axes")
	}
	cells, marks := map[string]bool{}, map[string]bool{}
	for _, k := range drawnIn(t, "<section"+section+"</section>") {
		v, of := k.y, marks
		if k.value != nil {
			v, of = k.value, cells
		}
		if k.point == "" || v == nil {
			continue
		}
		if of[k.point[:8]] = true; !same(*v, medians[k.point[:8]]) {
			t.Errorf("%s is drawn at %v, ls has %v", k.point, *v, medians[k.point[:8]])
		}
	}
	if len(medians) != 4 || len(cells) != 4 || len(marks) != 4 {
		t.Errorf("of %d points, %d are in heat maps and %d in lines", len(medians), len(cells), len(marks))
	}
	for _, row := range records(t, dir, "ls", "--pivot", "bs", "session=last") {
		for _, column := range []string{"batch_size=1", "batch_size=2"} {
			if value, is := row[column].(float64); is && !strings.Contains(section, schema.ForPeople(value, "ns")) {
				t.Errorf("the charts do not say %s", schema.ForPeople(value, "ns"))
			}
		}
	}
}

// TestReportComparesFunctions: the first paragraph of a report of functions of one file has the command that compares them, which works as it
// stands.
func TestReportComparesFunctions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "r.jsonl", strings.Repeat(`{"benchmark": "g.py:one", "session_id": "s", "machine": "m", "started_at": "2026-01-01T00:00:00Z", "samples": [{"metric": "latency", "unit": "ns", "values": [1000, 1001]}]}
{"benchmark": "g.py:two", "session_id": "s", "machine": "m", "started_at": "2026-01-01T00:00:01Z", "samples": [{"metric": "latency", "unit": "ns", "values": [2000, 2001]}]}
`, 6))
	programtest.Output(t, dir, "ingest", "r.jsonl")
	var js struct {
		Answer []struct{ Text, Command string }
	}
	valuetest.OK(t, json.Unmarshal([]byte(programtest.Output(t, dir, "report", "--json", "-")), &js))
	command := js.Answer[len(js.Answer)-1].Command
	if !strings.HasSuffix(command, " --baseline benchmark=g.py:one") {
		t.Fatalf("the command is %q", command)
	}
	if text := programtest.Output(t, dir, strings.Fields(command)[1:]...); !strings.Contains(text, "- **Best:** g.py:one: g.py:two is worse: ") {
		t.Errorf("%s prints %s", command, text)
	}
}

// TestReportOfFiles: a report of two imported files says what compare says of the repeats of their points, in its first paragraph, in its
// tables and in JSON.
func TestReportOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, file := range []string{"old.txt", "new.txt"} {
		text := "pkg: example.com/x\n"
		for k := range 10 {
			text += fmt.Sprintf("BenchmarkSlow \t 1000 \t %d ns/op\nBenchmarkSame \t 1000 \t %d ns/op\n", 50_000+100*(k%4)+6000*i, 30_000+50*(k%4))
		}
		programtest.WriteFile(t, dir, file, text)
	}
	programtest.Output(t, dir, "ingest", "old.txt", "new.txt")
	sides := make([]string, 2)
	for _, row := range records(t, dir, "ls", "--limit", "0", "benchmark=example.com/x/Slow") {
		side := 0
		if row["p50"].(float64) >= 56_000 {
			side = 1
		}
		sides[side] = "session=" + row["session_id"].(string)
	}
	var js struct {
		Answer []struct{ Text string }
		Pairs  []map[string]any
	}
	valuetest.OK(t, json.Unmarshal([]byte(programtest.Output(t, dir, append([]string{"report", "--json", "-"}, sides...)...)), &js))
	rows, slow := records(t, dir, append([]string{"compare"}, sides...)...), map[string]any{}
	for _, row := range rows {
		i := slices.IndexFunc(js.Pairs, func(p map[string]any) bool { return p["point_id"] == row["head_point_id"] })
		if p := js.Pairs[i]; p["repeats"] != row["repeats_result"] || p["verdict"] != row["verdict"] {
			t.Errorf("the report has %v, compare %v", p, row)
		}
		if row["benchmark"] == "example.com/x/Slow" {
			slow = row
		}
	}
	valuetest.Equal(t, slow["repeats_result"], any("differ"))
	percent := func(name string) string { return fmt.Sprintf("%+.1f %%", 100*slow[name].(float64)) }
	valuetest.Equal(t, js.Answer[0].Text, fmt.Sprintf("The repeats differ in 1 of 2 points; most: example.com/x/Slow: latency %.1f µs → %.1f µs, %s (95 %% interval %s to %s), if both sides ran on one machine in one state. No verdict (unknown machine).",
		slow["base"].(float64)/1000, slow["head"].(float64)/1000, percent("change"), percent("low"), percent("high")))
	valuetest.Contains(t, programtest.Output(t, dir, append([]string{"report"}, sides...)...), percent("change")+" estimate, repeats differ |")
	valuetest.Contains(t, programtest.Output(t, dir, append([]string{"report", "--html", "-"}, sides...)...), "estimate, repeats differ (unknown machine)")
}
