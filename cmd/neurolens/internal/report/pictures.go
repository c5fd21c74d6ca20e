package report

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
)

const (
	maxPoints    = 12  // of which samples are drawn: the others are a command away
	sampleMarks  = 200 // of a chart of samples: a page has several
	stripMarks   = 72  // of a chart of memory
	maxPareto    = 300 // points of a chart of two metrics
	fewestValues = 2   // points, for a chart over axes
)

// pictureMaker draws the charts of one report.
type pictureMaker struct {
	db     *query.DB
	reader views.Display
	report *summary.Report
	maker  chartdata.Maker
	err    error
}

// HTMLPage is a report as HTML, and where it goes.
type HTMLPage struct {
	Maker    Maker
	Report   *summary.Report
	Document *Document
	Path     string // a file, or - for Stdout; empty: nobody asks for it
	Stdout   io.Writer
}

// WriteHTML writes the page, with its charts.
func WriteHTML(ctx context.Context, db *query.DB, p HTMLPage) error {
	if p.Path == "" {
		return nil
	}
	a := &pictureMaker{db: db.WithoutWarnings(), reader: p.Maker.Reader, report: p.Report, maker: chartdata.Maker{Reader: p.Maker.Reader, Baselines: baselinesOf(p.Report)}}
	pictures := Pictures{History: a.history(ctx)}
	if !p.Document.pooled() { // else values are medians over sessions between which levels may have changed
		pictures.Points, pictures.Axes, pictures.Best = a.samples(ctx), a.axes(), a.best()
	}
	pictures.Outputs = a.outputs(ctx)
	pictures.More = slices.Concat(a.annotations(ctx), a.operators(ctx), a.stacks(ctx))
	if a.err != nil {
		return fmt.Errorf("charts of the report: %w", a.err)
	}
	return WriteForm(p.Path, p.Stdout, p.Maker.HTML(p.Document, pictures))
}

// baselinesOf returns what a report compares with.
func baselinesOf(r *summary.Report) (all []summary.Baseline) {
	for i := range r.Comparisons {
		all = append(all, summary.Baseline{Axis: r.Comparisons[i].Axis, Value: r.Comparisons[i].Baseline})
	}
	return all
}

// betweenTitles stands between what a chart of package chartdata shows and what all of its values have in common.
const betweenTitles = " · "

// chart returns a figure with a title for this page, and the command that draws it; none where there is nothing to draw, or nothing that
// says anything.
func (a *pictureMaker) chart(f *chart.Figure, err error, title func(f *chart.Figure) string, words ...string) []*Chart {
	var refusal chartdata.Refusal
	switch {
	case errors.As(err, &refusal) || a.err != nil:
		return nil
	case err != nil:
		a.err = err
		return nil
	case f.Marks() < fewestValues:
		return nil
	}
	common := strings.Split(f.Title, betweenTitles)[1:]
	constants, _ := views.Axes(chartdata.SubjectsOf(a.report.Points), views.RunColumns) // the page says these once
	common = slices.DeleteFunc(common, func(text string) bool { return slices.Contains(constants, text) })
	f.Title = strings.Join(append([]string{title(f)}, common...), betweenTitles)
	for i, note := range f.Notes {
		first, size := utf8.DecodeRuneInString(note)
		f.Notes[i] = string(unicode.ToUpper(first)) + note[size:] + "."
	}
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" }) // the filter of all runs
	return []*Chart{{Figure: f, Command: "neurolens plot " + term.ShellLine(words...) + a.reader.OfStores()}}
}

// samples returns the distributions of the points that changed most, and their samples in the order in which they were taken.
func (a *pictureMaker) samples(ctx context.Context) []*Chart {
	ids := chosen(a.report)
	if len(ids) == 0 {
		return nil
	}
	base, head := a.selections()
	points := namerOf(a.report.Points).filter(ids...)
	words := []string{filter.JoinArguments(head, points)}
	req := chartdata.Sampled{SamplesRequest: query.SamplesRequest{Filter: words[0], MaxRuns: chartdata.MaxRuns}, Marks: sampleMarks}
	if base != "" {
		req.Base = filter.JoinArguments(base, points)
		words = append(words, "--against", req.Base)
	}
	which := ""
	// A point may be there for two sides.
	if all := term.CountDistinct(term.Texts(a.report.Points, func(p summary.Point) string { return string(p.PointID) })); all > len(ids) {
		which = fmt.Sprintf(", of the %d points of %s that %s", len(ids), term.Thousands(all), why(a.report.Pairs))
	}
	ecdf, _, err := a.maker.ECDF(ctx, a.db, req)
	all := a.chart(ecdf, err, func(f *chart.Figure) string { return "Distribution of " + f.X.Label + which }, append([]string{"ecdf"}, words...)...)
	runs, _, err := a.maker.Runs(ctx, a.db, req)
	all = append(all, a.chart(runs, err, func(f *chart.Figure) string { return "Samples of " + f.Y.Label + " in their order" + which }, append([]string{"runs"}, words...)...)...)
	if base != "" {
		which = ", of the head"
	}
	all = append(all, a.memory(ctx, words[0], which)...)
	return append(all, a.telemetry(ctx, head, ids)...)
}

// telemetryMarks is how many marks a chart of readings has, of all metrics and devices together.
const telemetryMarks = 500

// telemetry returns the readings of the newest run with some, of the first of the points that has one.
func (a *pictureMaker) telemetry(ctx context.Context, selection string, ids []summary.Text) []*Chart {
	if !slices.ContainsFunc(a.report.Selection.Known, chartdata.IsReading) {
		return nil
	}
	for _, id := range ids {
		list := query.ListRequest{Filter: filter.JoinArguments(selection, "point_id="+string(id), "purpose=measure", "status=ok"), Limit: 1}
		runs, err := a.db.Runs(ctx, list, "run_id")
		if err != nil || len(runs) == 0 {
			a.err = cmp.Or(a.err, err)
			continue
		}
		detail, err := a.db.Show(ctx, runs[0].RunID)
		if err != nil {
			a.err = cmp.Or(a.err, err)
			return nil
		}
		maker := a.maker
		maker.Marks = telemetryMarks
		f, err := maker.Telemetry(&detail)
		run := views.ShortRun(runs[0].RunID)
		if charts := a.chart(f, err, func(*chart.Figure) string { return "Readings of the device in run " + run }, "telemetry", run); len(charts) > 0 {
			return charts
		}
	}
	return nil
}

// memories are the metrics of memory, the one that says most of a model first.
var memories = []string{"device_memory_peak", "peak_memory"}

// memory returns what each run of some points took at most, where they differ in it and it is not what the other charts are of.
func (a *pictureMaker) memory(ctx context.Context, selection, which string) []*Chart {
	for _, metric := range memories {
		known := func(p summary.Point) bool {
			return string(p.Metric) != metric && slices.ContainsFunc(p.Metrics, func(v summary.Value) bool { return v.Metric == metric })
		}
		if !slices.ContainsFunc(a.report.Points, known) {
			continue
		}
		req := chartdata.Sampled{SamplesRequest: query.SamplesRequest{Filter: selection, MaxRuns: chartdata.MaxRuns, Metric: metric}, Marks: stripMarks}
		f, _, err := a.maker.Strip(ctx, a.db, req)
		if err == nil && alike(f, along) {
			continue
		}
		return a.chart(f, err, func(f *chart.Figure) string { return f.X.Label + " of each run" + which }, "strip", "--metric", metric, selection)
	}
	return nil
}

// alike tells whether the values of all marks of a figure lie within a hundredth: that says nothing.
func alike(f *chart.Figure, of func(chart.Mark) float64) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, k := range f.All() {
		low, high = min(low, of(k)), max(high, of(k))
	}
	return high-low <= low/100
}

// along and up are the two values of a mark.
func along(k chart.Mark) float64 { return k.X }

func up(k chart.Mark) float64 { return k.Y }

// chosen returns the points whose samples are drawn: those that changed most, each with its base, else those whose runs differ most.
func chosen(r *summary.Report) (ids []summary.Text) {
	add := func(id summary.Text) {
		if len(ids) < maxPoints && id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, p := range ranked(r.Pairs) {
		add(p.BaseID)
		add(p.PointID)
	}
	points := make([]*summary.Point, 0, len(r.Points))
	for i := range r.Points {
		if p := &r.Points[i]; p.OKRuns > 0 && (spread(p) >= 0 || len(r.Points) <= maxPoints) { // single samples show nothing
			points = append(points, p)
		}
	}
	slices.SortStableFunc(points, func(a, b *summary.Point) int { return cmp.Compare(spread(b), spread(a)) })
	for _, p := range points {
		add(p.PointID)
	}
	return ids
}

// why says why points are chosen.
func why(pairs []summary.Pair) string {
	all := ranked(pairs)
	switch {
	case len(all) == 0:
		return "vary most"
	case place(all[0]) < 0:
		return "differ most from their base, or vary most"
	}
	return "changed, or vary most"
}

// place is that of a verdict among those of a change; -1 of others.
func place(p *summary.Pair) int {
	return slices.Index([]string{string(judge.Regressed), string(judge.Improved), string(judge.Changed)}, p.Verdict)
}

// ranked returns the pairs with a speed-up, the worst first.
func ranked(pairs []summary.Pair) []*summary.Pair {
	var all []*summary.Pair
	for i := range pairs {
		if pairs[i].Speedup != nil && *pairs[i].Speedup > 0 {
			all = append(all, &pairs[i])
		}
	}
	size := func(p *summary.Pair) float64 { return max(*p.Speedup, 1 / *p.Speedup) }
	slices.SortStableFunc(all, func(a, b *summary.Pair) int {
		if (place(a) < 0) != (place(b) < 0) { // what did not change by verdict comes last
			return cmp.Compare(place(b), place(a))
		}
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(size(b), size(a)))
	})
	return all
}

// spread returns how much the runs of a point differ, where it has fewer than 3 how much the samples of a run do; -1 where neither is
// known.
func spread(p *summary.Point) float64 {
	v := valueOf(p, string(p.Metric))
	if known := cmp.Or(v.RunsSpread, v.Spread); known != nil {
		return *known
	}
	return -1
}

// maxOverAxes is how many marks a chart over axes has: of more points, places show the median.
const maxOverAxes = 500

// axes returns the primary metric over one axis and over two, with panels for the other axes in which points differ.
func (a *pictureMaker) axes() (all []*Chart) {
	req, which := a.points()
	add := func(kind string, made func(chartdata.Points) (*chart.Figure, error), title func(f *chart.Figure) string) {
		words, of := []string{kind}, req
		f, err := made(of)
		if err == nil && f.Marks() > maxOverAxes && len(f.Panels) > 0 {
			words, of.Median = append(words, "--median"), true
			f, err = made(of)
		}
		all = append(all, a.chart(f, err, func(f *chart.Figure) string { return title(f) + which }, append(words, req.Filter)...)...)
	}
	add("lines", a.maker.Lines, func(f *chart.Figure) string { return f.Y.Label + " over " + f.X.Label })
	add("heatmap", a.maker.Heatmap, func(f *chart.Figure) string { return f.Values.Label + " over " + f.X.Label + " and " + f.Y.Label })
	return all
}

// selections returns the filters of the base, empty where the report is about one selection, and of the runs that are drawn.
func (a *pictureMaker) selections() (base, head string) {
	s := &a.report.Selection
	if s.Base == "" {
		return "", s.Filter
	}
	return string(s.Base), string(s.Head)
}

// points returns the points that are drawn over axes, and names them in words. Of two selections they are the points of the head.
func (a *pictureMaker) points() (req chartdata.Points, which string) {
	base, head := a.selections()
	req = chartdata.Points{All: a.report.Points, Filter: head, Sessions: a.report.Selection.Sessions}
	if base == "" {
		return req, ""
	}
	req.Sessions = 0
	req.All = slices.DeleteFunc(slices.Clone(req.All), func(p summary.Point) bool { return p.Side == "base" })
	for i := range req.All { // the title says it
		req.All[i].Side = ""
	}
	return req, ", of the head"
}

// best returns the primary metric against another one, where it is known which values of both are better.
func (a *pictureMaker) best() []*Chart {
	req, which := a.points()
	if len(req.All) > maxPareto {
		return nil
	}
	primary, other := metrics(req.All)
	if other == "" {
		return nil
	}
	req.X, req.Y = primary, other
	f, err := a.maker.Pareto(req)
	if err == nil && (alike(f, along) || alike(f, up)) {
		return nil
	}
	return a.chart(f, err, func(f *chart.Figure) string {
		return f.X.Label + " and " + f.Y.Label + which + ": points that no other point beats in both"
	}, "pareto", "--x", primary, "--y", other, req.Filter)
}

// besideCharts are the metrics that are drawn against the primary one, the most wanted first.
var besideCharts = []string{"accuracy", "max_error", "energy", "peak_memory", "device_memory_peak", "throughput"}

// metrics returns the primary metric of the first points that have one, and the one to draw it against.
func metrics(points []summary.Point) (primary, other string) {
	place := len(besideCharts)
	for i := range points {
		primary = cmp.Or(primary, string(points[i].Metric))
		for _, v := range points[i].Metrics {
			if at := slices.Index(besideCharts, v.Metric); at >= 0 && at < place && v.Metric != primary {
				place, other = at, v.Metric
			}
		}
	}
	return primary, other
}

// historyRoom is how many bytes the chart of a history may take: more sessions share a mark until it does.
const historyRoom = 240_000

// history returns the primary metric over sessions, of the series that matter most.
func (a *pictureMaker) history(ctx context.Context) []*Chart {
	if a.err != nil || len(a.report.Trends) == 0 {
		return nil
	}
	req := history.Request{Filter: a.report.Selection.HistoryFilter}
	f, _, err := a.maker.History(ctx, a.db, req)
	if err == nil {
		var drawing bytes.Buffer
		if a.err = pen().Draw(&drawing, f, "c1"); drawing.Len() > historyRoom {
			a.maker.Marks = f.Marks() * historyRoom / drawing.Len()
			f, _, err = a.maker.History(ctx, a.db, req)
		}
	}
	return a.chart(f, err, func(f *chart.Figure) string { return f.Y.Label + " over sessions" }, "history", req.Filter)
}

// maxSaid is how many rows a table of notes, tags and releases has: the newest.
const maxAnnotations = 50

// annotations returns a section with what people said about the sessions of the report; none where nobody did.
func (a *pictureMaker) annotations(ctx context.Context) []Section {
	if a.err != nil {
		return nil
	}
	all, err := query.Annotations(ctx, a.db, a.report.Selection.Filter)
	if err != nil {
		a.err = err
	}
	if len(all) == 0 {
		return nil
	}
	t := &Table{
		ID: "notes", Title: "Notes, tags and releases", Command: "neurolens ls session=KEY" + a.reader.OfStores(),
		Text:    []string{"Notes and tags of sessions (neurolens note, neurolens tag), and releases (the tag release)."},
		Columns: []Column{{Header: "session began UTC"}, {Header: "runs", Right: true}, {Header: "what"}, {Header: "text"}},
	}
	for i := len(all) - 1; i >= 0 && len(t.Rows) < maxAnnotations; i-- {
		s := &all[i]
		text := s.Text
		if s.Kind == query.Tag {
			text = s.Key + "=" + s.Text
		}
		t.Rows = append(t.Rows, Row{Key: s.SessionID, Cells: []Cell{
			{Text: s.At.UTC().Format("2006-01-02 15:04")}, {Text: term.Thousands(s.Runs)}, {Text: string(s.Kind)}, {Text: text},
		}})
	}
	if n := len(all) - len(t.Rows); n > 0 {
		t.Below = append(t.Below, term.Count(n, "earlier one")+" "+term.IsAre(n)+" left out.")
	}
	return []Section{{ID: "notes", Title: t.Title, Tables: []*Table{t}}}
}

// flameMarks is how many frames a flame graph of a page has: those with the most samples.
const flameMarks = 400

// stacks returns a flame graph of the newest profiled run if it has stacks.
func (a *pictureMaker) stacks(ctx context.Context) []Section {
	if a.err != nil || !slices.ContainsFunc(a.report.Points, func(p summary.Point) bool { return p.Profiled > 0 }) {
		return nil
	}
	_, selection := a.selections()
	runs, err := a.db.Runs(ctx, query.ListRequest{Filter: filter.JoinArguments(selection, "purpose=profile", "status=ok"), Limit: 1}, "run_id", "benchmark")
	if err == nil && len(runs) > 0 {
		err = a.db.SetOperators(ctx, &runs[0])
	}
	if err != nil || len(runs) == 0 {
		a.err = err
		return nil
	}
	maker, run := a.maker, views.ShortRun(runs[0].RunID)
	maker.Marks = flameMarks
	f, err := maker.Flame(&runs[0])
	figures := a.chart(f, err, func(*chart.Figure) string { return "Where the samples of run " + run + " were" }, "flame", run)
	if len(figures) == 0 {
		return nil
	}
	return []Section{{ID: "stacks", Title: "Stacks of a profiled run", Figures: figures}}
}
