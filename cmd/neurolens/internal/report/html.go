package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// sheet makes a document a page of HTML.
type sheet struct {
	Maker
	d       *Document
	names   namer
	against []against
	page    *Page
}

// A page may have 400 kB and 150 bytes a point, of which its charts take what the rest leaves, and at least something.
const (
	pageRoom  = 400_000
	pointRoom = 150
)

// sheetOf makes a document a page of HTML: what changed first, then all that the Markdown has, and the charts that are there.
func (m Maker) sheetOf(d *Document, pictures Pictures) *Page {
	s := &sheet{Maker: m, d: d, names: namerOf(d.Points), against: columnsOf(d)}
	s.page = &Page{
		Title: "Benchmark report", Subtitle: s.selected(), Headline: d.headlines(), Tallies: s.tallies(pictures.Trends),
		Made: fmt.Sprintf("Made %s by %s.", d.MadeAt.Format("2006-01-02 15:04 UTC"), d.MadeBy), Room: pageRoom + pointRoom*len(d.Points),
	}
	s.trends(pictures.Trends)
	s.changes()
	s.failures(pictures.Outputs)
	s.findings()
	s.environment()
	s.pictures("samples", "Samples of each point", pictures.Points)
	s.pictures("axes", "Over the axes", pictures.Axes)
	s.leaders(pictures)
	s.pictures("history", "History", pictures.History)
	for _, part := range pictures.More {
		s.add(part)
	}
	s.resources()
	s.results()
	return s.page
}

// Pictures are the charts of a page, by the section that they stand in.
type Pictures struct {
	Points, Axes, Best, History []*Chart
	Trends                      []Trend // of which History is
	Outputs                     []Output
	More                        []Section
}

// Output is what a run of a failure wrote last.
type Output struct {
	Failure, Cause       int // places in Document.Failures, and in its Causes
	Text, Lines, Command string
}

// Trend is how a series changed over sessions, and is so still.
type Trend struct {
	Point   summary.Text
	Metric  string
	Verdict judge.Verdict
	By      string // +12 %
	Session string // the first one in which it is so
}

// HTML writes the document as a page.
func (m Maker) HTML(d *Document, pictures Pictures) func(w io.Writer) error {
	return func(w io.Writer) error { return m.sheetOf(d, pictures).Write(w, pen()) }
}

// add adds a section.
func (s *sheet) add(part Section) { s.page.Sections = append(s.page.Sections, part) }

// pictures is a section of charts alone.
func (s *sheet) pictures(id, title string, charts []*Chart) {
	if len(charts) > 0 {
		s.add(Section{ID: id, Title: title, Figures: charts})
	}
}

// selected says which runs the page is about.
func (s *sheet) selected() string {
	return s.d.selected() + " · " + s.d.sessions()
}

// tallies are what somebody wants to see first: how many points changed, where there is something to compare with, and how runs ended.
func (s *sheet) tallies(trends []Trend) (all []Tally) {
	add := func(n int, of string, tone chart.Tone) {
		if n > 0 {
			all = append(all, Tally{Count: term.Thousands(n), Of: of, Tone: tone})
		}
	}
	overSessions := map[judge.Verdict]int{}
	for i := range trends {
		overSessions[trends[i].Verdict]++
	}
	for _, v := range []judge.Verdict{judge.Regressed, judge.Improved} {
		add(overSessions[v], string(v)+" over sessions", toneOf(string(v)))
	}
	verdicts := map[string]int{}
	for i := range s.d.Comparisons {
		for v, n := range s.d.Comparisons[i].Verdicts {
			verdicts[v] += n
		}
	}
	for _, v := range verdictOrder {
		if n := verdicts[string(v)]; v != judge.Unchanged || n > 0 {
			add(n, tallied(v, n), toneOf(string(v)))
		}
	}
	c := &s.d.Counts
	failed := 0
	for status, n := range c.ByStatus {
		if schema.Status(status).Failed() {
			failed += n
		}
	}
	add(failed-c.Wrong, failedWord(failed-c.Wrong), chart.Failed)
	add(c.Wrong, plural(c.Wrong, "run")+" with a wrong result", chart.Failed)
	add(c.Points, plural(c.Points, "point"), "")
	add(c.Runs, plural(c.Runs, "run"), "")
	return all
}

// tallied says what pairs of a verdict are.
func tallied(verdict judge.Verdict, n int) string {
	switch verdict {
	case "missing":
		return plural(n, "point") + " missing on the head"
	case "added":
		return plural(n, "point") + " new on the head"
	case judge.Estimate:
		return plural(n, "pair") + " estimated"
	}
	return plural(n, "pair") + " " + string(verdict)
}

func failedWord(n int) string { return "failed " + plural(n, "run") }

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// verdictOrder is the order in which pairs stand, the worst first.
var verdictOrder = []judge.Verdict{
	judge.Regressed, "failed", "missing", judge.Improved, "fixed", judge.Changed, judge.Inconclusive, judge.Estimate, judge.Unchanged, "unsupported", "added",
}

// toneOf is what a verdict says.
func toneOf(verdict string) chart.Tone {
	switch verdict {
	case string(judge.Regressed):
		return chart.Regressed
	case string(judge.Improved), "fixed":
		return chart.Improved
	case string(judge.Changed):
		return chart.Warned
	case "failed", "missing":
		return chart.Failed
	}
	return chart.Neutral
}

// stored is a value as it is stored.
func stored(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// amount is a cell of a value.
func amount(v *float64, unit summary.Text) Cell {
	return Cell{Text: quantity(v, unit), Stored: stored(v)}
}

// ratioDigits is how many digits of a ratio that was computed are kept.
const ratioDigits = 4

// ratio is a cell of a share or a factor.
func ratio(v *float64, text string) Cell {
	c := Cell{Text: text}
	if v != nil {
		c.Stored = strconv.FormatFloat(*v, 'g', ratioDigits, 64)
	}
	return c
}

// changeCell is a cell of the change of a pair.
func changeCell(p *summary.Pair) Cell {
	if p.Speedup == nil {
		return Cell{Text: changeText(p)}
	}
	return ratio(new(ratioOf(*p.Speedup, chart.Better(p.Better))-1), changeText(p))
}

// environment says where the runs were measured; that in which they differ first.
func (s *sheet) environment() {
	t := &Table{ID: "environment", Title: "Environment", Columns: []Column{{Header: "fact"}, {Header: "value"}, {Header: "runs", Right: true}}}
	for _, differ := range []bool{true, false} {
		for _, fact := range s.d.Environment {
			if len(fact.Values) > 0 && differ == (len(fact.Values) > 1 || fact.Unknown > 0) {
				t.Rows = append(t.Rows, factRows(&fact, differ)...)
			}
		}
	}
	if len(t.Rows) > 0 {
		s.add(Section{ID: "environment", Title: "Environment", Tables: []*Table{t}})
	}
}

// factRows are the values of a fact.
func factRows(fact *summary.Fact, differ bool) (rows []Row) {
	const most = 8
	add := func(value string, runs int) {
		r := Row{Cells: []Cell{{Text: environmentNames[fact.Name]}, {Text: value}, {Text: term.Thousands(runs)}}}
		if differ {
			r.Cells[0] = Cell{Text: environmentNames[fact.Name] + " (differs)", Tone: chart.Warned}
		}
		rows = append(rows, r)
	}
	others := 0
	for i, v := range fact.Values {
		if i >= most {
			others += v.Runs
			continue
		}
		add(environmentText(fact.Name, v.Value), v.Runs)
	}
	if others > 0 {
		add(term.Count(len(fact.Values)-most, "other value"), others)
	}
	if fact.Unknown > 0 {
		add("unknown", fact.Unknown)
	}
	return rows
}

// failures are how the runs that are not ok ended, with a hint each, the reasons, and what such runs wrote last.
func (s *sheet) failures(outputs []Output) {
	part := Section{ID: "failures", Title: "Runs that are not ok"}
	p := page{d: s.d, names: s.names}
	for i, f := range s.d.Failures {
		item := Item{Text: capital(failureName(&f)) + ": " + failureText(&f), Tone: chart.Failed, Command: s.command("ls", s.d.words(s.d.ending(&f))...)}
		if st := schema.Status(f.Status); !st.Failed() {
			item.Tone = ""
		}
		for _, c := range f.Causes {
			item.Lines += p.causeText(&c) + "\n"
		}
		if f.Others > 0 {
			item.Lines += "and " + term.Count(f.Others, "other reason") + "\n"
		}
		part.Items = append(part.Items, item)
		for _, o := range outputs {
			if o.Failure == i {
				part.Items = append(part.Items, Item{Text: o.Text, Lines: o.Lines, Command: o.Command})
			}
		}
	}
	if len(part.Items) > 0 {
		s.add(part)
	}
}

// findings are what rules found, and what to do because of it.
func (s *sheet) findings() {
	part := Section{ID: "findings", Title: "Findings and what to do"}
	p := page{d: s.d, names: s.names}
	for _, f := range s.d.Findings {
		item := Item{Text: capital(p.findingText(&f)) + "."}
		for _, r := range s.d.Recommendations {
			if r.Rule == f.Rule {
				item.Text, item.Command = item.Text+" "+capital(r.Why)+":", r.Command
			}
		}
		part.Items = append(part.Items, item)
	}
	if len(part.Items) > 0 {
		s.add(part)
	}
}

// resources are what points took beside time.
func (s *sheet) resources() {
	t := &Table{ID: "resources", Title: "Memory and energy", Columns: []Column{
		{Header: "metric"},
		{Header: "points", Right: true},
		{Header: "lowest", Right: true, Stored: true},
		{Header: "median", Right: true, Stored: true},
		{Header: "highest", Right: true, Stored: true},
		{Header: "highest at"},
	}}
	for _, r := range s.d.Resources {
		t.Rows = append(t.Rows, Row{Key: string(r.At.PointID), Cells: []Cell{
			{Text: r.Metric}, {Text: term.Thousands(r.Points)}, amount(r.Lowest, r.Unit), amount(r.Median, r.Unit), amount(r.Highest, r.Unit), {Text: s.names.name(&r.At)},
		}})
	}
	if len(t.Rows) > 0 {
		s.add(Section{ID: "resources", Title: "Memory and energy", Tables: []*Table{t}})
	}
}

// leaders are the best points of each machine and metric.
func (s *sheet) leaders(pictures Pictures) {
	part := Section{ID: "best", Title: "Best points", Figures: pictures.Best}
	for i := range s.d.Leaderboards {
		b := &s.d.Leaderboards[i]
		if b.Ranked < 2 || len(part.Tables) >= maxBoards {
			continue
		}
		t := &Table{ID: fmt.Sprintf("best-%d", i+1), Title: b.Metric + ": the best points", Text: []string{boardText(b) + "."}, Command: s.ofPoint(), Columns: []Column{
			{Header: "rank", Right: true}, {Header: "point"}, {Header: b.Metric, Unit: string(b.Unit), Right: true, Stored: true}, {Header: "runs", Right: true},
		}}
		for k := range b.Best {
			l := &b.Best[k]
			t.Rows = append(t.Rows, Row{Key: string(l.PointID), Cells: []Cell{
				{Text: fmt.Sprint(l.Rank)}, {Text: s.names.name(&l.Subject)}, amount(l.Median, b.Unit), {Text: term.Thousands(l.Runs)},
			}})
		}
		part.Tables = append(part.Tables, t)
	}
	if len(part.Tables) > 0 || len(part.Figures) > 0 {
		s.add(part)
	}
}

// maxBoards is how many leaderboards a page has: one for each machine and metric.
const maxBoards = 8
