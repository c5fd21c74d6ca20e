package chartdata

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/summary"
)

// MaxRuns is of how many runs samples are read: the newest that match.
const MaxRuns = 2000

// Sampled asks for the samples of runs.
type Sampled struct {
	query.SamplesRequest
	Base  string // the filter of runs that those of Filter are compared with; empty: there is one selection
	By    string // an axis, for a series for each of its values; empty: one for each point
	Marks int    // how many marks the figure has at most; 0: chart.MaxMarks
}

// group is what is drawn as one: runs of a point, or a single run.
type group struct {
	name   string
	side   string   // base or head, of two selections
	places []int    // of its runs
	run    string   // its id, where it is one
	words  []string // of a filter, for its runs
}

// sampled are runs with samples, in groups.
type sampled struct {
	Maker
	found  query.SampledRuns
	bases  int // how many of its runs are those of the base, which stand first
	req    Sampled
	title  string
	groups []group // one at least; of two selections the base and the head of a point alternately, which keepBoth sees to
	notes  []string
}

// sampled finds the runs, in at most so many groups. byRun makes a group of each run where all are of one point.
func (m Maker) sampled(ctx context.Context, db *query.DB, req Sampled, byRun bool, most int) (*sampled, error) {
	found, err := query.FindSamples(ctx, db, req.SamplesRequest)
	if err != nil {
		return nil, err
	}
	s := &sampled{Maker: m, found: found, req: req}
	if len(found.Runs) == 0 {
		return s, s.nothing()
	}
	if req.Base != "" {
		if req.By != "" {
			return s, refused("--by %s and two selections: want one of them", plain(req.By))
		}
		return s, s.addBase(ctx, db)
	}
	subjects := s.subjects()
	var names []string
	s.title, names = named(subjects, axisColumns)
	_, axes := views.Axes(subjects, axisColumns)
	one := !slices.ContainsFunc(names, func(name string) bool { return name != names[0] })
	if req.By != "" {
		by, err := m.axisNamed(subjects, "--by", req.By)
		if err != nil {
			return s, err
		}
		axes = []views.Axis{by.Axis}
		names = axisWords(by.Name, by.Values)
	}
	s.gather(names, axes, byRun && one && req.By == "", most)
	s.left()
	return s, nil
}

// subjects returns what the runs are of.
func (s *sampled) subjects() []views.Subject {
	subjects := make([]views.Subject, len(s.found.Runs))
	for i := range s.found.Runs {
		r := &s.found.Runs[i]
		subjects[i] = views.Subject{Point: r.Point, Side: r.Side}
	}
	return subjects
}

// gather puts runs of the same name together, which have the same values of axes, or each for itself.
func (s *sampled) gather(names []string, axes []views.Axis, byRun bool, most int) {
	at := map[[2]string]int{}
	for i := range s.found.Runs {
		if r := &s.found.Runs[i]; byRun {
			s.groups = append(s.groups, group{name: s.runName(r), places: []int{i}, run: r.RunID})
		} else {
			s.put(at, names[i], "", axes, i)
		}
	}
	nouns := "runs"
	if !byRun {
		nouns = "points"
		s.inOrder()
	}
	if len(s.groups) > most {
		s.groups = s.chosen(s.groups, most, nouns)
	}
}

// chosen returns so many of some groups, in their order, of as many different values of each axis as possible; without axes, groups that
// are equally far apart. The title says how many there are, and what chooses others.
func (s *sampled) chosen(groups []group, most int, nouns string) []group {
	drawn := fmt.Sprintf("%d of %s %s", most, term.Thousands(len(groups)), nouns)
	why, other := "equally far apart", ""
	if words := groups[0].words; len(words) > 0 {
		why, other = "of as many values of each axis as possible", ", others by a filter such as "+plain(words[len(words)-1])
	}
	s.title = strings.TrimPrefix(s.title+" · "+drawn+other, " · ")
	s.notes = append(s.notes, drawn+" drawn: "+why)
	seen := map[string]int{} // how many chosen groups have a value
	is := make([]bool, len(groups))
	for n := range most {
		best, news, olds := -1, 0, 0
		for k := range groups {
			i := (n*len(groups)/most + k) % len(groups)
			own, others := 0, 0
			for _, word := range groups[i].words {
				if seen[word] == 0 {
					own++
				}
				others += seen[word]
			}
			if !is[i] && (best < 0 || own > news || own == news && others < olds) {
				best, news, olds = i, own, others
			}
		}
		is[best] = true
		for _, word := range groups[best].words {
			seen[word]++
		}
	}
	var all []group
	for i, g := range groups {
		if is[i] {
			all = append(all, g)
		}
	}
	return all
}

// inOrder sorts groups in the order of points in a report, in which the baseline comes first, and the base of a point before its head.
func (s *sampled) inOrder() {
	order := summary.InOrder(s.Baselines)
	slices.SortStableFunc(s.groups, func(a, b group) int {
		one, other := &s.found.Runs[a.places[0]], &s.found.Runs[b.places[0]]
		return cmp.Or(order(&one.Point, &other.Point), strings.Compare(one.Side, other.Side))
	})
}

// put adds a run to the group of a name and a side, made at its first run. at has the places of groups.
func (s *sampled) put(at map[[2]string]int, name, side string, axes []views.Axis, run int) {
	place, known := at[[2]string{name, side}]
	if !known {
		place = len(s.groups)
		at[[2]string{name, side}] = place
		words := term.Texts(axes, func(x views.Axis) string { return wordOf(x, run) })
		s.groups = append(s.groups, group{name: name, side: side, words: words})
	}
	s.groups[place].places = append(s.groups[place].places, run)
}

func (s *sampled) runName(r *query.SampledRun) string {
	return views.ShortRun(r.RunID) + " " + s.when(r.StartedAt)
}

// nothing says why there is nothing to draw.
func (s *sampled) nothing() error {
	switch {
	case s.req.Metric != "" && len(s.found.Absent.Metrics) > 0:
		return refused("no matching run has samples of %s; there are samples of %s", plain(s.req.Metric), plain(strings.Join(s.found.Absent.Others, ", ")))
	case s.found.Failed == s.found.Looked:
		return refused("no matching run is ok and has measurements (%s): neurolens ls shows how they ended", term.Count(s.found.Looked, "run"))
	}
	return refused("no matching run has samples: imported results may have only a mean; neurolens ls shows them")
}

// left says which runs are left out.
func (s *sampled) left() {
	if n := s.found.Matching - s.found.Looked; n > 0 {
		s.notes = append(s.notes, fmt.Sprintf("the newest %s of %s that match", term.Thousands(s.found.Looked), term.Count(s.found.Matching, "run")))
	}
	undated := 0
	for i := range s.found.Runs {
		if s.found.Runs[i].StartedAt.IsZero() {
			undated++
		}
	}
	if undated > 0 {
		s.notes = append(s.notes, term.Count(undated, "run")+" without a start time, in no order")
	}
	if s.found.Failed > 0 {
		s.notes = append(s.notes, term.Count(s.found.Failed, "run")+" left out: failed, or a profiler pass")
	}
	if s.found.Other > 0 {
		s.notes = append(s.notes, term.Count(s.found.Other, "run")+" left out: no samples of "+plain(s.found.Metric)+" in this unit")
	}
}

// keep returns the runs of some groups alone, whose places are made those.
func (s *sampled) keep(groups []group) (found query.SampledRuns, of []group) {
	found = s.found
	found.Runs = nil
	for _, g := range groups {
		own := g
		own.places = nil
		for _, place := range g.places {
			own.places = append(own.places, len(found.Runs))
			found.Runs = append(found.Runs, s.found.Runs[place])
		}
		of = append(of, own)
	}
	return found, of
}

// ECDF draws which share of the samples is up to a value, a curve for each point or, of a single one, for each run.
func (m Maker) ECDF(ctx context.Context, db *query.DB, req Sampled) (*chart.Figure, *query.SampledRuns, error) {
	s, err := m.sampled(ctx, db, req, true, maxPanels)
	if err != nil {
		return nil, nil, err
	}
	found, groups := s.keep(s.groups)
	series := make([]int, len(found.Runs))
	for i, g := range groups {
		for _, place := range g.places {
			series[place] = i
		}
	}
	curves, notFinite, err := query.SampleShares(ctx, db, &found, series, cmp.Or(req.Marks, chart.MaxMarks)/len(groups))
	if err != nil {
		return nil, nil, err
	}
	f := &chart.Figure{Kind: chart.ECDF, Title: titled("distribution of "+s.found.Metric, s.title), Notes: s.notes}
	f.X = chart.Axis{Label: s.found.Metric, Unit: views.RateUnit(s.found.Metric, s.found.Unit)}
	f.Y = chart.Axis{Label: "share of samples", Unit: "ratio", High: 1}
	var values []float64
	less := 0
	for i, c := range curves {
		if len(c.Steps) == 0 {
			f.Series = append(f.Series, chart.Series{}) // inPanels goes by their places
			continue
		}
		if len(c.Steps) < c.Different {
			less++
		}
		values = append(values, c.Steps[0].Value, c.Steps[len(c.Steps)-1].Value)
		f.Series = append(f.Series, s.curve(&found, &groups[i], c))
	}
	f.X.Scale = scaleOfSamples(values)
	if req.Base != "" {
		inPanels(f, groups)
	}
	if less > 0 {
		f.Notes = append(f.Notes, term.Count(less, "curve")+" of exact quantiles, joined by straight lines: there are more values than a chart has marks")
	}
	if notFinite > 0 {
		f.Notes = append(f.Notes, term.Count(notFinite, "sample")+" left out: not a finite number")
	}
	return f, &s.found, nil
}

// curve returns the distribution of a group.
func (s *sampled) curve(found *query.SampledRuns, g *group, c query.SampleCurve) chart.Series {
	line := chart.Series{Name: cmp.Or(g.side, g.name), Style: chart.Steps, Marks: make([]chart.Mark, len(c.Steps))}
	if len(c.Steps) < c.Different { // the samples between two marks are nearer to a straight line than to a step after all of them
		line.Style = chart.Line
	}
	command, before := s.commandOf(found, g), 0
	for i, step := range c.Steps {
		share := float64(step.UpTo) / float64(c.Samples)
		line.Marks[i] = chart.Mark{
			X: step.Value, Y: share, Low: chart.Unknown(), High: chart.Unknown(), Run: g.run, Count: step.UpTo - before, Command: command,
			Text: sentence(fmt.Sprintf("%s of samples up to %s", views.Share(share), quantity(step.Value, s.found.Unit, s.found.Metric)),
				fmt.Sprintf("%s of %s", term.Thousands(step.UpTo), term.Thousands(c.Samples)), g.name, g.side),
		}
		before = step.UpTo
	}
	return line
}

// commandOf shows what a group is of.
func (s *sampled) commandOf(found *query.SampledRuns, g *group) string {
	if len(g.places) == 1 {
		return s.ofRun(found.Runs[g.places[0]].RunID)
	}
	selection := s.req.Filter
	if g.side == baseSide {
		selection = s.req.Base
	}
	if slices.ContainsFunc(g.words, func(word string) bool { return plain(word) != word }) { // nobody could type it
		return s.ofRuns(selection)
	}
	return s.ofRuns(selection, g.words...)
}

// Runs draws samples in the order in which they were taken, run after run. Of several points each has a panel.
func (m Maker) Runs(ctx context.Context, db *query.DB, req Sampled) (*chart.Figure, *query.SampledRuns, error) {
	s, err := m.sampled(ctx, db, req, false, maxPanels)
	if err != nil {
		return nil, nil, err
	}
	f := &chart.Figure{Kind: chart.Runs, Title: titled("run order of "+s.found.Metric, s.title), Notes: s.notes}
	f.X = chart.Axis{Label: "sample", Own: true, Whole: true}
	f.Y = chart.Axis{Label: s.found.Metric, Unit: views.RateUnit(s.found.Metric, s.found.Unit), Own: true}
	together, logarithmic := 0, 0
	each := 1 // groups of a panel: both sides of a point, or one for itself
	if s.req.Base != "" {
		each = 2
	}
	panels := slices.Collect(slices.Chunk(s.groups, each))
	found, kept := make([]*query.SampledRuns, len(panels)), make([][]group, len(panels))
	for i, groups := range panels {
		own, of := s.keep(groups)
		found[i], kept[i] = &own, of
	}
	most := cmp.Or(req.Marks, chart.MaxMarks) / len(panels)
	orders, err := query.SamplesInOrder(ctx, db, found, most, min(most, placesIn(len(panels))))
	if err != nil {
		return nil, nil, err
	}
	for i, o := range orders {
		p := chart.Panel{Title: panels[i][0].name, Series: s.marksInOrder(found[i], o), Guides: s.boundaries(found[i], o)}
		if s.req.Base != "" {
			at := float64(o.Starts[kept[i][1].places[0]]) + .5
			p.Guides = []chart.Guide{{Along: chart.Vertical, At: at, Until: at, Text: headSide}}
		}
		together = max(together, o.Each)
		var values []float64
		for _, part := range o.Parts {
			values = append(values, part.Min, part.Max)
		}
		if p.Linear = scaleOfSamples(values) != chart.Log; !p.Linear {
			logarithmic++
		}
		if len(panels) == 1 {
			f.Series, f.Guides = p.Series, p.Guides
		} else {
			f.Panels = append(f.Panels, p)
		}
	}
	shareTitles(f)
	if logarithmic > 0 {
		f.Y.Scale = chart.Log
	}
	if together > 1 {
		f.Notes = append(f.Notes, fmt.Sprintf("a mark combines up to %s in a row: their median, with a bar from minimum to maximum", term.Count(together, "sample")))
	}
	warmup := "warm-up is left out"
	if s.req.Base != "" {
		warmup += "; the runs of the base come first, and a line marks where those of the head begin"
	} else if slices.ContainsFunc(f.Parts(), func(p chart.Panel) bool { return len(p.Guides) > 0 }) {
		warmup += "; a line marks where the next run begins"
	}
	f.Notes = append(f.Notes, warmup)
	if words := f.Words(chart.Warned); len(words) > 0 {
		f.Notes = append(f.Notes, "marked runs have a warning: "+plain(strings.Join(words, ", "))+" (neurolens help warnings says what to do)")
	}
	return f, &s.found, nil
}

// marksInOrder returns the samples of runs, in which samples of runs with a warning are marked.
func (s *sampled) marksInOrder(found *query.SampledRuns, o query.SampleOrder) []chart.Series {
	all := chart.Series{Style: chart.Points}
	if o.Each > 1 {
		all.Style = chart.Intervals
	}
	for _, part := range o.Parts {
		all.Marks = append(all.Marks, s.part(found, o, part))
	}
	return nonEmpty(all)
}

// warnings returns the words of warning of runs, each once.
func warnings(of []query.SampledRun) (all []string) {
	for i := range of {
		all = append(all, of[i].Warnings...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// part returns the mark of some samples in a row.
func (s *sampled) part(found *query.SampledRuns, o query.SampleOrder, p query.SamplePart) chart.Mark {
	r := &found.Runs[p.First]
	k := chart.Mark{X: float64(p.At + 1), Y: p.Median, Low: chart.Unknown(), High: chart.Unknown(), Run: r.RunID, Command: s.ofRun(r.RunID)}
	which := fmt.Sprintf("sample %s of run %s", term.Thousands(p.AtOfRun+1), s.runName(r))
	value := s.quantity(p.Median)
	if o.Each > 1 {
		k.Low, k.High, k.Count = p.Min, p.Max, p.Samples
		k.X += float64(p.Samples-1) / 2
		which = fmt.Sprintf("samples %s to %s of run %s", term.Thousands(p.AtOfRun+1), term.Thousands(p.AtOfRun+p.Samples), s.runName(r))
		value = fmt.Sprintf("median %s, %s … %s", value, s.quantity(p.Min), s.quantity(p.Max))
	}
	if p.Last > p.First {
		k.Run, k.Command = "", s.ofRuns(s.req.Filter)
		which = fmt.Sprintf("%s of %s from run %s on", term.Count(p.Samples, "sample"), term.Count(p.Last-p.First+1, "run"), s.runName(r))
	}
	if p.NotFinite > 0 {
		value += fmt.Sprintf(", %s not finite", term.Thousands(p.NotFinite))
	}
	k.Word = strings.Join(warnings(found.Runs[p.First:p.Last+1]), ", ")
	warned := ""
	if k.Word != "" {
		k.Tone, warned = chart.Warned, "with a warning: "+k.Word
	}
	k.Text = sentence(which+": "+value, warned)
	return k
}

func (s *sampled) quantity(v float64) string { return quantity(v, s.found.Unit, s.found.Metric) }

// boundaries returns where runs begin, after the first one: with their names where these are few. Of very many runs there are none.
func (s *sampled) boundaries(found *query.SampledRuns, o query.SampleOrder) (all []chart.Guide) {
	const most, named = 40, 8
	if len(found.Runs) > most {
		return nil
	}
	for i, at := range o.Starts[1:] {
		place := float64(at) + .5
		g := chart.Guide{Along: chart.Vertical, At: place, Until: place}
		if len(s.groups) == 1 && len(found.Runs) <= named {
			g.Text = views.ShortRun(found.Runs[i+1].RunID)
		}
		all = append(all, g)
	}
	return all
}

// coloured returns a series for each value of the compared axis, and for each run the index of its series. There is one series if no axis
// is compared, or if each row has its own value.
func (s *sampled) coloured() (all []chart.Series, of []int) {
	of = make([]int, len(s.found.Runs))
	for _, a := range s.axesOf(s.subjects()) {
		if !s.isCompared(a.Name) || len(a.values) > maxColours || len(a.values) == len(s.groups) || slices.ContainsFunc(a.Values, func(v string) bool { return !slices.Contains(a.values, v) }) {
			continue
		}
		for i, value := range a.Values {
			of[i] = slices.Index(a.values, value)
		}
		for _, name := range axisWords(a.Name, a.values) {
			all = append(all, chart.Series{Name: name, Style: chart.Points})
		}
		return all, of
	}
	return []chart.Series{{Name: "runs", Style: chart.Points}}, of
}

// maxColours is how many colours can be told apart.
const maxColours = 7

// Strip draws the median of each run, in a row for each point, so that runs of one point that differ are seen. It is of one
// selection: req.Base is empty.
func (m Maker) Strip(ctx context.Context, db *query.DB, req Sampled) (*chart.Figure, *query.SampledRuns, error) {
	s, err := m.sampled(ctx, db, req, false, maxRows)
	if err != nil {
		return nil, nil, err
	}
	f := &chart.Figure{Kind: chart.Scatter, Title: titled(s.found.Metric+" of each run", s.title), Notes: s.notes}
	f.X = chart.Axis{Label: s.found.Metric, Unit: views.RateUnit(s.found.Metric, s.found.Unit)}
	f.Y = chart.Axis{Scale: chart.Categories}
	all, of := s.coloured()
	var values []float64
	without, most := 0, max(cmp.Or(req.Marks, chart.MaxMarks)/len(s.groups), 1)
	if slices.ContainsFunc(s.groups, func(g group) bool { return len(g.places) > most }) {
		f.Notes = append(f.Notes, fmt.Sprintf("only the newest %s of each point", term.Count(most, "run")))
	}
	for row := range s.groups {
		g := &s.groups[row]
		f.Y.Categories = append(f.Y.Categories, g.name)
		for _, place := range g.places[max(len(g.places)-most, 0):] {
			r := &s.found.Runs[place]
			if r.Median == nil {
				without++
				continue
			}
			values = append(values, *r.Median)
			k := chart.Mark{
				X: *r.Median, Y: float64(row), Low: chart.Unknown(), High: chart.Unknown(), Run: r.RunID, Command: s.ofRun(r.RunID),
				Text: sentence(fmt.Sprintf("run %s: %s", s.runName(r), s.quantity(*r.Median)), g.name, strings.Join(r.Warnings, " ")),
			}
			if k.Word = strings.Join(r.Warnings, ", "); k.Word != "" {
				k.Tone = chart.Warned
			}
			all[of[place]].Marks = append(all[of[place]].Marks, k)
		}
	}
	f.Series = nonEmpty(all...)
	if without > 0 {
		f.Notes = append(f.Notes, term.Count(without, "run")+" left out: no median")
	}
	f.X.Scale = scaleOf(values)
	return f, &s.found, nil
}
