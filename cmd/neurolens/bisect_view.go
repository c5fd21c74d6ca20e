package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/worktree"
)

// bisectProgress says on standard error what a search is doing: one line a step, and on a terminal one that changes.
type bisectProgress struct {
	*app
	search *bisection
	screen *term.Screen // nil: no terminal
	commit worktree.Commit
}

func newBisectProgress(a *app, search *bisection) *bisectProgress {
	p := &bisectProgress{app: a, search: search}
	if a.errTerminal && a.getenv("TERM") != "dumb" {
		p.screen = term.NewScreen(a.stderr, a.errSize)
	}
	return p
}

// begin says what is searched, and where it is written down.
func (p *bisectProgress) begin(log *bisectLog, points int) {
	h := p.search.history
	p.say(fmt.Sprintf("bisect %s: good %s, bad %s, %s", term.Count(len(h.Commits), "commit"), commitText(h.Good), commitText(h.Bad), term.Count(points, "point")))
	text := "log " + log.path
	if n := len(log.steps); n > 0 {
		text += ": goes on after " + term.Count(n, "step")
	}
	p.say(text)
}

// say writes a line that stays.
func (p *bisectProgress) say(line string) {
	if p.screen == nil {
		fmt.Fprintln(p.stderr, term.OneLine(line))
		return
	}
	columns := p.screen.Width()
	p.screen.Draw(term.Wrapped(term.OneLine(line), columns), func(int) []string { return nil })
}

// shows writes a line that the next one replaces, on a terminal.
func (p *bisectProgress) shows(line string) {
	if p.screen != nil {
		p.screen.Draw(nil, func(columns int) []string { return []string{term.Cut(term.OneLine(line), columns)} })
	}
}

// number is the step that is being taken, of about how many.
func (p *bisectProgress) number() string {
	return fmt.Sprintf("step %d of about %d", len(p.search.steps)+1, max(p.search.total(), len(p.search.steps)+1))
}

// test begins a step.
func (p *bisectProgress) test(c worktree.Commit) {
	p.commit = c
	p.shows(p.number() + ": " + commitText(c))
}

// observe is told what happens in the session of a step.
func (p *bisectProgress) observe(e runner.Event) {
	text := p.number() + ": " + commitText(p.commit)
	switch {
	case e.Run != nil:
		text += fmt.Sprintf("  run %d of %d", e.Index+1, e.Launches)
	case e.Waiting != "", e.Build != nil:
		text += "  " + preparation(e)
		if e.Waiting != "" && p.screen == nil {
			p.say(preparation(e))
		}
	default:
		return
	}
	p.shows(text)
}

// worthSaying is after how many blocks that do not decide it is said, where nothing else shows that a step goes on.
const worthSaying = 30

// looked says that a look has not decided.
func (p *bisectProgress) looked(all []*bisectSeries, open int) {
	if open == 0 || p.screen != nil {
		return
	}
	blocks := 0
	for _, s := range all {
		blocks = max(blocks, len(s.blocks))
	}
	if blocks >= worthSaying && blocks < p.search.most {
		p.say(fmt.Sprintf("%s: %s: not decided after %s, measuring more", p.number(), commitText(p.commit), term.Count(blocks, "block")))
	}
}

// step says what was found of a commit, which the search counts already.
func (p *bisectProgress) step(step bisectStep) {
	number := fmt.Sprintf("step %d of about %d", len(p.search.steps), p.search.total())
	p.say(number + ": " + step.text(p.commit))
}

// text is the commit, what was measured and what it is like.
func (s *bisectStep) text(c worktree.Commit) string {
	var parts []string
	if change := s.changeText(); change != "" {
		parts = append(parts, change)
	}
	if s.Blocks > 0 {
		parts = append(parts, term.Count(s.Blocks, "block"))
	}
	return commitText(c) + ": " + strings.Join(append(parts, s.likeText()), ", ")
}

// commitText is a commit as people know it: abc1234 "subject".
func commitText(c worktree.Commit) string {
	return shortCommit(c.ID) + ` "` + c.Subject + `"`
}

// Results of a search, by commit.
const (
	bisectFirst     = "first_changed"
	bisectCandidate = "candidate"
	bisectUnchanged = "unchanged"    // the ends do not differ in a point
	bisectOpen      = "inconclusive" // it is not known whether they do
	bisectFailed    = "failed"       // one of them cannot be measured
)

// report prints how a search ended.
func (b *bisector) report(search *bisection, end bisectEnd) error {
	t := bisectTable()
	switch {
	case len(end.candidates) == 0:
		for _, step := range end.unchanged {
			t.Rows = append(t.Rows, b.row(b.history.Bad, step, step.endResult(), search, end))
		}
	default:
		for _, c := range end.candidates {
			result := bisectCandidate
			if len(end.candidates) == 1 {
				result = bisectFirst
			}
			t.Rows = append(t.Rows, b.row(c, search.found(c), result, search, end))
		}
	}
	if err := b.print(b.format, t, func() term.View { return b.view(t, search, end) }); err != nil {
		return err
	}
	switch {
	case len(end.candidates) == 1:
		return nil
	case !slices.ContainsFunc(end.unchanged, func(s bisectStep) bool { return s.endResult() != bisectFailed }) && len(end.unchanged) > 0:
		return errRunsFailed
	}
	return errInconclusive
}

// found is what is known of a commit; the zero step where it was not tested.
func (b *bisection) found(c worktree.Commit) bisectStep {
	for _, step := range slices.Backward(b.steps) {
		if step.Commit == c.ID {
			return step
		}
	}
	return bisectStep{}
}

// endResult is what is said of a point in which the ends were not found to differ.
func (s *bisectStep) endResult() string {
	switch {
	case s.Reason != "":
		return bisectFailed
	case s.Result == testedGood:
		return bisectUnchanged
	}
	return bisectOpen
}

// bisectTable has one row a commit that may be the first changed one, or a point in which the ends do not differ.
func bisectTable() answer.Table {
	t := answer.Table{}
	for _, name := range []string{"result", "git_commit", "subject", "tested", "reason", "point", "point_id", "metric", "unit", "scale"} {
		t.Columns = append(t.Columns, answer.Column{Name: name, Type: answer.TypeText})
	}
	for _, name := range []string{"change", "low", "high", "confidence"} {
		t.Columns = append(t.Columns, answer.Column{Name: name, Type: answer.TypeReal})
	}
	t.Columns = append(t.Columns,
		answer.Column{Name: "blocks", Type: answer.TypeInteger}, answer.Column{Name: "session_id", Type: answer.TypeText},
		answer.Column{Name: "base_commit", Type: answer.TypeText},
		answer.Column{Name: "commits", Type: answer.TypeInteger}, answer.Column{Name: "steps", Type: answer.TypeInteger}, answer.Column{Name: "blocks_all", Type: answer.TypeInteger})
	return t
}

func (b *bisector) row(c worktree.Commit, step bisectStep, result string, search *bisection, end bisectEnd) []any {
	row := []any{
		result, c.ID, c.Subject, answer.Text(step.Result), answer.Text(step.Reason),
		answer.Text(step.Point), answer.Text(step.PointID), answer.Text(step.Metric), answer.Text(step.Unit), answer.Text(step.Scale),
		nil, nil, nil, nil, int64(step.Blocks), answer.Text(step.Session),
		b.history.Good.ID, int64(len(b.history.Commits)), int64(len(search.steps)), int64(search.blocks(end)),
	}
	if step.Confidence > 0 {
		row[10], row[11], row[12], row[13] = step.Change, step.Low, step.High, step.Confidence
	}
	return row
}

// blocks is how many were measured in all: of the points by which commits were told apart, or of those in which the ends do
// not differ.
func (b *bisection) blocks(end bisectEnd) (n int) {
	for _, step := range slices.Concat(b.steps, end.unchanged) {
		n += step.Blocks
	}
	return n
}

// view is the answer for people.
func (b *bisector) view(t answer.Table, search *bisection, end bisectEnd) term.View {
	v := term.View{Above: []string{b.headline(end)}, Below: b.below(search, end)}
	if len(end.candidates) == 0 {
		v.Columns = []term.Column{{Header: "POINT"}}
	} else {
		v.Columns = []term.Column{{Header: "COMMIT"}, {Header: "SUBJECT", Drop: 2}}
		v.Above = append(v.Above, term.OneLine(strings.Join(slices.Compact([]string{b.sweep.Suite, search.steps[0].Point, search.steps[0].Metric}), " · ")))
	}
	v.Columns = append(v.Columns, []term.Column{
		{Header: "CHANGE", Right: true}, {Header: "INTERVAL", Right: true}, {Header: "BLOCKS", Right: true, Drop: 1}, {Header: "RESULT"},
	}...)
	for _, row := range t.Rows {
		v.Rows = append(v.Rows, b.cells(t, row, len(end.candidates) > 0))
	}
	if len(end.candidates) == 1 {
		v.Commands = b.next(end.candidates[0], search)
	}
	return v
}

// next are the commands to type next.
func (b *bisector) next(first worktree.Commit, search *bisection) []string {
	commands := []string{"next  git show " + shortCommit(first.ID)}
	if step := search.found(first); step.Session != "" {
		command := "      neurolens compare session=" + shortRun(step.Session)
		if b.flags.metric != "" {
			command += " --metric " + term.ShellWord(b.flags.metric)
		}
		if len(b.stores) > 0 {
			command += " --store " + term.ShellWord(b.dir)
		}
		commands = append(commands, command)
	}
	return commands
}

func (b *bisector) headline(end bisectEnd) string {
	good := shortCommit(b.history.Good.ID)
	switch n := len(end.candidates); n {
	case 0:
		return fmt.Sprintf("no point is known to differ between %s and %s", good, shortCommit(b.history.Bad.ID))
	case 1:
		return fmt.Sprintf("first changed commit after %s: %s", good, term.OneLine(commitText(end.candidates[0])))
	default:
		return fmt.Sprintf("the first changed commit after %s is one of %d", good, n)
	}
}

// cells are those of a row: of a commit, or of a point in which the ends do not differ.
func (b *bisector) cells(t answer.Table, row []any, commits bool) []term.Cell {
	change, interval, blocks := term.Unknown, term.Unknown, term.Unknown
	if step := stepOf(t, row); step.Confidence > 0 {
		change, interval, _ = strings.Cut(step.changeText(), " (")
		interval, blocks = strings.TrimSuffix(interval, ")"), term.Thousands(step.Blocks)
	}
	result := textAt(t, row, "result")
	cells := []term.Cell{{Text: term.OneLine(orUnknown(textAt(t, row, "point")))}}
	if commits {
		cells = []term.Cell{{Text: shortCommit(textAt(t, row, "git_commit"))}, {Text: term.OneLine(textAt(t, row, "subject"))}}
	}
	return append(cells, term.Cell{Text: change}, term.Cell{Text: interval}, term.Cell{Text: blocks}, term.Cell{Text: strings.ReplaceAll(result, "_", " "), Failed: result == bisectFailed})
}

// stepOf is what a row has of a change.
func stepOf(t answer.Table, row []any) bisectStep {
	real := func(name string) float64 { v, _ := at(t, row, name).(float64); return v }
	blocks, _ := at(t, row, "blocks").(int64)
	return bisectStep{
		Scale: textAt(t, row, "scale"), Unit: textAt(t, row, "unit"), Change: real("change"), Low: real("low"), High: real("high"),
		Confidence: real("confidence"), Blocks: int(blocks),
	}
}

// below says why what was not measured was not, counts what was tested, and says how sure the answer is.
func (b *bisector) below(search *bisection, end bisectEnd) []string {
	var lines []string
	results := map[string]int{}
	for _, step := range search.steps {
		results[step.Result]++
	}
	if len(end.candidates) == 0 {
		for _, step := range end.unchanged {
			if step.Reason != "" {
				lines = append(lines, term.OneLine(step.Point+": "+step.Reason))
			}
		}
		lines = append(lines, fmt.Sprintf("%s, %s; %s", term.Count(len(end.unchanged), "point"), term.Count(len(b.history.Commits), "commit"), term.Count(search.blocks(end), "block")))
		if slices.ContainsFunc(end.unchanged, func(s bisectStep) bool { return s.endResult() == bisectUnchanged }) {
			lines = append(lines, "unchanged: the interval lies within the least change (--threshold)")
		}
		if end.more > 0 {
			lines = append(lines, fmt.Sprintf("inconclusive: about %s of each side are likely to tell, --max-blocks %d", term.Count(end.more, "run"), end.more))
		}
		return lines
	}
	for _, c := range end.candidates {
		if step := search.found(c); step.Reason != "" {
			lines = append(lines, term.OneLine(shortCommit(c.ID)+" was skipped: "+step.Reason))
		}
	}
	return append(lines,
		fmt.Sprintf("%s, %d tested: %d like GOOD, %d like BAD, %d skipped; %s", term.Count(len(b.history.Commits), "commit"), len(search.steps),
			results[testedGood], results[testedBad], results[testedSkip], term.Count(search.blocks(end), "block")),
		"at most 5 % of such searches name a wrong commit", "",
	)
}
