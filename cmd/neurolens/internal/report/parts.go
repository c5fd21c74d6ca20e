package report

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// leaders are the best points of each machine and metric.
func (p page) leaders() {
	var boards []*summary.Leaderboard
	for i := range p.d.Leaderboards {
		if b := &p.d.Leaderboards[i]; b.Ranked > 1 {
			boards = append(boards, b)
		}
	}
	if len(boards) == 0 {
		return
	}
	p.title(2, "Leaderboard")
	for _, b := range boards {
		p.line("%s.", boardText(b))
		p.board(b)
	}
}

// boardText says what a leaderboard ranks.
func boardText(b *summary.Leaderboard) string {
	where := ""
	if b.Machine != "" {
		where = " on " + string(b.Machine)
	}
	if b.Side != "" {
		where += ", " + string(b.Side)
	}
	text := fmt.Sprintf("%s, %s is better%s: the best %d of %s", b.Metric, b.Better, where, len(b.Best), term.Count(b.Ranked, "point"))
	if b.Wrong > 0 {
		text += fmt.Sprintf("; %s left out, with a wrong or unchecked result", term.Count(b.Wrong, "point"))
	}
	if b.Requests > 0 {
		text += fmt.Sprintf("; %s left out, with failed requests", term.Count(b.Requests, "point"))
	}
	if b.NoValue > 0 {
		text += fmt.Sprintf("; %s left out, without a value", term.Count(b.NoValue, "point"))
	}
	return text
}

// board is the table of a leaderboard.
func (p page) board(b *summary.Leaderboard) {
	t := table{columns: []column{{"rank", true}}}
	subjects := make([]views.Subject, len(b.Best))
	for i := range b.Best {
		subjects[i] = views.Subject{Point: b.Best[i].Point()}
	}
	_, axes := views.Axes(subjects, views.IdentityColumns)
	axes = readable(axes)
	for _, x := range axes {
		t.columns = append(t.columns, axisColumn(x))
	}
	t.columns = append(t.columns, column{b.Metric, true}, column{"runs", true})
	for i := range b.Best {
		leader := &b.Best[i]
		cells := []string{fmt.Sprint(leader.Rank)}
		for _, x := range axes {
			cells = append(cells, views.AxisCell(x, i).Text)
		}
		t.rows = append(t.rows, append(cells, quantity(leader.Median, b.Unit), term.Thousands(leader.Runs)))
	}
	t.write(p.w)
}

// resources are what points took beside time.
func (p page) resources() {
	if len(p.d.Resources) == 0 {
		return
	}
	p.title(2, "Memory and energy")
	t := table{columns: []column{{header: "metric"}, {"points", true}, {"lowest", true}, {"median", true}, {"highest", true}, {header: "highest at"}}}
	for _, r := range p.d.Resources {
		t.rows = append(t.rows, []string{
			r.Metric, term.Thousands(r.Points), quantity(r.Lowest, r.Unit), quantity(r.Median, r.Unit), quantity(r.Highest, r.Unit), p.names.name(&r.At),
		})
	}
	t.write(p.w)
}

// failures are how the runs that are not ok ended, with a hint each.
func (p page) failures() {
	if len(p.d.Failures) == 0 {
		return
	}
	p.title(2, "Runs that are not ok")
	for _, f := range p.d.Failures {
		fmt.Fprintf(p.w, "- **%s**: %s\n", failureName(&f), term.MarkdownText(failureText(&f)))
		for _, c := range f.Causes {
			fmt.Fprintf(p.w, "  - %s\n", term.MarkdownText(p.causeText(&c)))
		}
		if f.Others > 0 {
			fmt.Fprintf(p.w, "  - and %s\n", term.Count(f.Others, "other reason"))
		}
	}
	fmt.Fprintln(p.w)
}

// failureName is how some runs ended, in a word or two.
func failureName(f *Failure) string {
	if f.Wrong {
		return views.WrongResult
	}
	return f.Status
}

// ending is a filter of the runs that ended so.
func (d *Document) ending(f *Failure) string {
	switch {
	case f.Wrong:
		return wrongResult
	case f.Status == string(schema.StatusError) && d.Counts.Wrong > 0:
		return "status=error not (" + wrongResult + ")"
	}
	return "status=" + f.Status
}

// wrongResult is a filter of runs with a wrong result.
var wrongResult = "status=error stage=validate error_kind~^(" + strings.Join(schema.WrongResults, "|") + ")$"

// failureText says how many runs ended so, and what to do about it.
func failureText(f *Failure) string {
	return fmt.Sprintf("%s of %s. %s.", term.Count(f.Runs, "run"), term.Count(f.Points, "point"), capital(f.Hint))
}

// causeText is a reason in words, with a point that has it.
func (p page) causeText(c *summary.Cause) string {
	const most = 200
	why := strings.Join(strings.Fields(string(c.Error)), " ")
	if why == "" {
		why = views.OrUnknown(string(c.ErrorKind))
	}
	if all := []rune(why); len(all) > most {
		why = string(all[:most-1]) + "…"
	}
	return fmt.Sprintf("%s: %s (%s)", term.Count(c.Runs, "run"), why, p.names.name(&c.Example))
}

// findings are what rules found.
func (p page) findings() {
	if len(p.d.Findings) == 0 {
		return
	}
	p.title(2, "Findings")
	for _, f := range p.d.Findings {
		fmt.Fprintf(p.w, "- `%s`: %s\n", f.Rule, term.MarkdownText(p.findingText(&f)))
	}
	fmt.Fprintln(p.w)
}

// findingText is a finding, with points that show it where they are not most.
func (p page) findingText(f *Finding) string {
	if len(f.Examples) == 0 || f.Points > p.d.Counts.Rows/2+1 {
		return f.Text
	}
	names := make([]string, len(f.Examples))
	for i := range f.Examples {
		names[i] = p.names.name(&f.Examples[i])
	}
	if f.Points > len(names) {
		names = append(names, "…")
	}
	return f.Text + " (" + strings.Join(names, "; ") + ")"
}

// recommendations are commands to type.
func (p page) recommendations() {
	if len(p.d.Recommendations) == 0 {
		return
	}
	p.title(2, "Recommendations")
	for _, r := range p.d.Recommendations {
		fmt.Fprintf(p.w, "- %s: %s (`%s`)\n", code(r.Command), term.MarkdownText(r.Why), r.Rule)
	}
	fmt.Fprintln(p.w)
}
