package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/query/summary"
)

// many returns a report of so many points, every second one of which is compared with the one before it.
func many(points int) *summary.Report {
	r := &summary.Report{Selection: summary.Selection{Filter: "session=last", By: []string{"suite"}, Sessions: 1}}
	precisions, models := []string{"fp32", "fp16", "bf16", "int8"}, []string{"resnet50", "bert-base", "llama-8b", "vit-l"}
	all := summary.Ratios{}
	verdicts := map[string]int{}
	for i := range points {
		size, seq := int64(1)<<(i/16%8), int64(64)<<(i/128%6)
		median := math.Round(1e5*float64(size)*(1+float64(i%97)/300)*1e6) / 1e6 // with 12 digits, as what was computed has
		p := summary.Point{
			Group: "sweep", Runs: 5, OKRuns: 5, ByStatus: map[string]int{"ok": 5}, SamplesMin: new(int64(100)), SamplesMax: new(int64(100)), Metric: "latency", Warnings: map[string]int{},
			Subject: summary.Subject{
				PointID: summary.Text(fmt.Sprintf("%016x%016x", uint64(i+1)*0x9e3779b97f4a7c15, i)), Benchmark: "sweep", Backend: "torch", Model: summary.Text(models[i/4%4]), Precision: summary.Text(precisions[i%4]),
				BatchSize: &size, SeqLen: &seq, Params: map[string]string{"tile": strconv.Itoa(16 << (i / 768))}, Machine: "lab3",
			},
			Metrics: []summary.Value{
				{Metric: "latency", Unit: "ns", Better: "lower", Runs: 5, Median: new(median), P99: new(math.Round(median*1.21*1e6) / 1e6), Spread: new(.01234567891 + float64(i%7)/1000), RunsSpread: new(.02345678912)},
				{Metric: "peak_memory", Unit: "B", Better: "lower", Runs: 5, Median: new(float64(64<<20 + 4096*i))},
				{Metric: "throughput", Unit: "items/s", Better: "higher", Runs: 5, Median: new(1e9 / median)},
			},
		}
		if i%50 == 7 {
			p.Warnings["drift"] = 2
		}
		r.Points = append(r.Points, p)
		if i%2 == 1 {
			base := r.Points[i-1].Metrics[0].Median
			speedup := *base / median * (1 + float64(i%31)/100)
			verdict := []string{"unchanged", "regressed", "inconclusive", "improved"}[i/2%4]
			verdicts[verdict]++
			r.Pairs = append(r.Pairs, summary.Pair{
				Group: "sweep", Subject: p.Subject, BaseID: r.Points[i-1].PointID, Metric: "latency", Unit: "ns", Better: "lower", Base: base, Value: new(median), BaseRuns: 5, Runs: 5,
				Speedup: &speedup, Low: new(speedup * .97), High: new(speedup * 1.03), Verdict: verdict,
			})
		}
	}
	all.Pairs, all.Compared = len(r.Pairs), len(r.Pairs)
	all.GeometricMean, all.Median, all.FastestPair, all.SlowestPair = new(1.1), new(1.1), new(0), new(0)
	r.Comparisons = []summary.Comparison{{Axis: "precision", Baseline: "fp32", From: summary.FromSweep, Metrics: []string{"latency"}, All: all, Verdicts: verdicts}}
	r.Groups = []summary.Group{{Name: "sweep", Rows: points, Runs: 5 * points, Metrics: []string{"latency", "peak_memory", "throughput"}}}
	r.Counts = summary.Counts{Runs: 5 * points, ByStatus: map[string]int{"ok": 5 * points}, Measured: 5 * points, Points: points, Rows: points, OKPoints: points}
	return r
}

// pageOf returns a report as HTML.
func pageOf(t testing.TB, r *summary.Report) string {
	t.Helper()
	var b bytes.Buffer
	ok(t, maker().HTML(maker().Document(r), Pictures{})(&b))
	return b.String()
}

// TestSizeOfPage: a page takes 400 kB and 150 bytes a point at most, and has a row for each point.
func TestSizeOfPage(t *testing.T) {
	for _, points := range []int{1, 100, 1000, 5000} {
		page := pageOf(t, many(points))
		if most := pageRoom + pointRoom*points; len(page) > most {
			t.Errorf("%d points: the page has %d bytes, want %d at most", points, len(page), most)
		}
		_, table, _ := strings.Cut(page, `data-name="points"`)
		table, _, _ = strings.Cut(table, "</table>")
		if rows := strings.Count(table, "\n<tr"); rows != points {
			t.Errorf("%d points: %d rows", points, rows)
		}
		t.Logf("%d points: %d bytes, %d charts", points, len(page), strings.Count(page, "<svg"))
	}
}

// attribute finds a value of a mark.
func attribute(mark, name string) string {
	found := regexp.MustCompile(` data-` + name + `="([^"]*)"`).FindStringSubmatch(mark)
	if found == nil {
		return ""
	}
	return found[1]
}

// TestValuesOfCharts: what the forest and the scatter draw is what the report has, to the last digit.
func TestValuesOfCharts(t *testing.T) {
	r := many(60)
	page, d := pageOf(t, r), maker().Document(r)
	pairs := map[string]*summary.Pair{}
	for i := range r.Pairs {
		pairs[string(r.Pairs[i].PointID[:8])] = &r.Pairs[i]
	}
	charts := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
	if len(charts) != 2 {
		t.Fatalf("%d charts", len(charts))
	}
	text := func(v *float64) string { return strconv.FormatFloat(*v, 'g', -1, 64) }
	for i, chart := range charts {
		marks := regexp.MustCompile(`<g class="mark[^>]*>`).FindAllString(chart, -1)
		if len(marks) != len(pairs) {
			t.Errorf("chart %d has %d marks, want %d", i, len(marks), len(pairs))
		}
		for _, mark := range marks {
			p := pairs[attribute(mark, "point")]
			if p == nil {
				t.Fatal("a mark of no pair: ", mark)
			}
			ratio := func(speedup *float64) *float64 { return new(1 / *speedup) } // of a time
			want := []string{text(ratio(p.Speedup)), text(ratio(p.High)), text(ratio(p.Low))}
			got := []string{attribute(mark, "x"), attribute(mark, "low"), attribute(mark, "high")}
			if i == 1 { // the scatter
				want, got = []string{text(p.Base), text(p.Value)}, []string{attribute(mark, "x"), attribute(mark, "y")}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("the mark has %q, the report %q", got, want)
			}
			want = append([]string{"neurolens ls"}, append(d.words(namerOf(d.Points).filter(p.PointID)), "--store 'my store'")...)
			if got := html.UnescapeString(attribute(mark, "command")); got != strings.Join(want, " ") || strings.Contains(got, "point_id") {
				t.Errorf("the mark has the command %s, want %s", got, want)
			}
		}
	}
}

// TestOrderOfChanges: what changed by verdict stands first, the worst first, and all else below it.
func TestOrderOfChanges(t *testing.T) {
	r := many(60)
	s := &htmlWriter{Maker: maker(), d: maker().Document(r)}
	changed, rest := s.ranked(0)
	last, worst := 0, 0.
	for i, p := range changed {
		place := map[string]int{"regressed": 0, "improved": 1}[p.Verdict]
		if place < last || place == last && i > 0 && factor(p) > worst {
			t.Errorf("%s %v stands after one that is less", p.Verdict, *p.Speedup)
		}
		last, worst = place, factor(p)
	}
	if len(changed) != 15 || len(changed)+len(rest) != len(r.Pairs) {
		t.Errorf("%d changed, %d more", len(changed), len(rest))
	}
}

// TestTitleOfRest: pairs without a verdict are not called unchanged.
func TestTitleOfRest(t *testing.T) {
	for verdicts, want := range map[[2]string]string{
		{"unchanged", "unchanged"}: "No change by verdict, against ", {"inconclusive", "inconclusive"}: "No verdict, against ", {"unchanged", "inconclusive"}: "No change or no verdict, against ",
	} {
		r := many(8)
		c := &r.Comparisons[0]
		c.Verdicts = map[string]int{}
		for i := range r.Pairs {
			r.Pairs[i].Verdict = verdicts[i%2]
			c.Verdicts[verdicts[i%2]]++
		}
		page := maker().htmlPage(maker().Document(r), Pictures{})
		at := slices.IndexFunc(page.Sections, func(s Section) bool { return s.ID == "changes-1" })
		if got := page.Sections[at].Tables[0].Title; !strings.HasPrefix(got, want) {
			t.Errorf("%v: %q", verdicts, got)
		}
	}
}

// TestCharts: the forest has the margin within which there is no change, where that is the same for all rows, and says so where it is not;
// the scatter says of what its values are.
func TestCharts(t *testing.T) {
	r := many(8)
	c := &r.Comparisons[0]
	s := &htmlWriter{Maker: maker(), d: maker().Document(r)}
	changed, rest := s.ranked(0)
	pairs := slices.Concat(changed, rest)
	forest := s.forest(c, pairs).Figure
	if len(forest.Guides) != 1 || !slices.ContainsFunc(forest.Notes, func(n string) bool { return strings.Contains(n, "differs from row to row") }) {
		t.Error(forest.Guides, forest.Notes)
	}
	c.Thresholds = map[string]float64{"latency": .25}
	forest = s.forest(c, pairs).Figure
	if g := forest.Guides; len(g) != 2 || g[1].At != .8 || g[1].Until != 1.25 || g[1].Text != "below 25.0 % counts as none" || len(forest.Notes) != 0 {
		t.Error(g, forest.Notes)
	}
	for want, set := range map[string]func(){
		"latency of the other values of precision": func() {},
		"latency of precision=int8":                func() { c.Values = []summary.NamedRatios{{Name: "int8"}} },
	} {
		before := *c
		set()
		if y := s.scatter(c, pairs).Figure.Y; y.Label != want || y.Better != chart.Lower {
			t.Errorf("the y axis is %v, want %s", y, want)
		}
		*c = before
	}
}

// TestTilesAndReasons: a tile says whether it counts pairs or runs, and why there is no verdict is said in words.
func TestTilesAndReasons(t *testing.T) {
	r := many(8)
	c := &r.Comparisons[0]
	c.Verdicts, c.Reasons = map[string]int{"failed": 5, "inconclusive": 1}, map[string]int{"few_runs": 1, "of_tomorrow": 2}
	r.Counts.ByStatus = map[string]int{"timeout": 88}
	m := maker()
	d := m.Document(r)
	tallies := m.htmlPage(d, Pictures{}).Tallies
	for i, want := range []string{"5 pairs failed", "1 pair inconclusive", "88 failed runs"} {
		if got := tallies[i].Count + " " + tallies[i].Of; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if text := d.verdictsText(c); !strings.Contains(text, "Pairs without a verdict: 1 for too few runs, 2 for of_tomorrow") {
		t.Error(text)
	}
	r.Pairs[0].Reason = "machines"
	s := &htmlWriter{Maker: m, d: d}
	if table := s.pairs("a", "b", []*summary.Pair{&r.Pairs[0]}); !strings.HasSuffix(table.Rows[0].Cells[5].Text, " (different machines)") {
		t.Error(table.Rows[0].Cells[5].Text)
	}
}

// TestWrongResultsApart: runs with a wrong result are counted and listed apart from those that failed otherwise.
func TestWrongResultsApart(t *testing.T) {
	r := many(8)
	r.Counts.ByStatus, r.Counts.Wrong = map[string]int{"error": 5, "ok": 9}, 2
	d := maker().Document(r)
	var tiles []string
	for _, tally := range maker().htmlPage(d, Pictures{}).Tallies {
		tiles = append(tiles, tally.Count+" "+tally.Of)
	}
	for _, want := range []string{"3 failed runs", "2 runs with a wrong result"} {
		if !slices.Contains(tiles, want) {
			t.Errorf("no %s among %q", want, tiles)
		}
	}
	wrong := d.ending(&Failure{Failure: summary.Failure{Status: "error", Wrong: true}})
	if other := d.ending(&Failure{Failure: summary.Failure{Status: "error"}}); other != "status=error not ("+wrong+")" || !strings.Contains(wrong, "stage=validate") {
		t.Errorf("the filters are %s and %s", wrong, other)
	}
}

// TestDifferences: facts in which two selections differ stand by themselves; those that change from run to run come last.
func TestDifferences(t *testing.T) {
	r := many(8)
	c := &r.Comparisons[0]
	c.From = summary.FromSelections
	c.Differs = []summary.Difference{
		{Kind: "environment", Name: "env.load.1m", Base: []string{"1", "2", "3", "4"}, Head: []string{"5"}},
		{Kind: "code", Name: "git_commit", Base: []string{"aaaaaaaaaaaaaaaa"}, Head: nil},
	}
	r.Selection.Base, r.Selection.Head = "session=A", "session=B"
	page := maker().htmlPage(maker().Document(r), Pictures{})
	at := slices.IndexFunc(page.Sections, func(s Section) bool { return s.ID == "differs" })
	if at < 0 {
		t.Fatal("no section")
	}
	s := page.Sections[at]
	var rows []string
	for _, row := range s.Tables[0].Rows {
		rows = append(rows, row.Cells[1].Text+": "+row.Cells[2].Text+" → "+row.Cells[3].Text)
	}
	if want := []string{"commit: aaaaaaaaaaaa → –", "load.1m: 1, 2, 3 and 1 more → 5"}; !slices.Equal(rows, want) {
		t.Errorf("rows are %q, want %q", rows, want)
	}
	if !strings.HasPrefix(s.Items[0].Command, "neurolens explain session=A session=B") {
		t.Error(s.Items[0].Command)
	}
}
