package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/bisect"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
)

// bisectProgress says on standard error what a search is doing: one line a step, and on a terminal one that changes.
type bisectProgress struct {
	*app
	search *bisect.Search
	screen *term.Screen // nil: no terminal
	commit worktree.Commit
}

func newBisectProgress(a *app, search *bisect.Search) *bisectProgress {
	p := &bisectProgress{app: a, search: search}
	if a.errTerminal && a.getenv("TERM") != "dumb" {
		p.screen = term.NewScreen(a.stderr, a.errSize)
	}
	return p
}

// begin says what is searched, and where it is written down.
func (p *bisectProgress) begin(log *bisectLog, points int) {
	h := p.search.History
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
	return fmt.Sprintf("step %d of about %d", len(p.search.Steps)+1, max(p.search.Total(), len(p.search.Steps)+1))
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

// looked says that a look has not decided, after so many blocks, of so many points.
func (p *bisectProgress) looked(blocks, open int) {
	if open == 0 || p.screen != nil {
		return
	}
	if blocks >= worthSaying && blocks < p.search.Most {
		p.say(fmt.Sprintf("%s: %s: not decided after %s, measuring more", p.number(), commitText(p.commit), term.Count(blocks, "block")))
	}
}

// step says what was found of a commit, which the search counts already.
func (p *bisectProgress) step(step bisect.Step) {
	number := fmt.Sprintf("step %d of about %d", len(p.search.Steps), p.search.Total())
	p.say(number + ": " + stepText(step, p.commit))
}

// stepText is the commit, what was measured and what it is like.
func stepText(s bisect.Step, c worktree.Commit) string {
	var parts []string
	if change := bisectedChange(s); change != "" {
		parts = append(parts, change)
	}
	if s.Blocks > 0 {
		parts = append(parts, term.Count(s.Blocks, "block"))
	}
	return commitText(c) + ": " + strings.Join(append(parts, likeText(s)), ", ")
}

// likeText says which end a commit is like.
func likeText(s bisect.Step) string {
	switch s.Result {
	case bisect.Good:
		return "like GOOD"
	case bisect.Bad:
		return "like BAD"
	}
	return "skipped: " + s.Reason
}

// bisectedChange is the change with its interval: +14.8 % (+14.1 +15.6).
func bisectedChange(s bisect.Step) string {
	if s.Confidence == 0 {
		return ""
	}
	change, low, high := wording.Signed(s.Change), wording.SignedBare(s.Low), wording.SignedBare(s.High)
	if s.Scale == string(schema.ScaleDifference) {
		change, low, high = wording.SignedQuantity(s.Change, s.Unit), wording.SignedQuantity(s.Low, s.Unit), wording.SignedQuantity(s.High, s.Unit)
	}
	return change + " (" + low + " " + high + ")"
}

// commitText is a commit as people know it: abc1234 "subject".
func commitText(c worktree.Commit) string {
	return wording.ShortCommit(c.ID) + ` "` + c.Subject + `"`
}

// report prints how a search ended.
func (b *bisector) report(search *bisect.Search, end bisect.End) error {
	t := answer.TableOf(bisectFields(), bisectRows(search, end))
	if err := b.print(b.format, t, func() term.View { return b.view(search, end) }); err != nil {
		return err
	}
	switch {
	case len(end.Candidates) == 1:
		return nil
	case end.Unmeasured():
		return errRunsFailed
	}
	return errInconclusive
}

// view is the answer for people.
func (b *bisector) view(search *bisect.Search, end bisect.End) term.View {
	v := term.View{Above: []string{b.headline(end)}, Below: b.below(search, end)}
	if len(end.Candidates) == 0 {
		v.Columns = []term.Column{{Header: "POINT"}}
	} else {
		v.Columns = []term.Column{{Header: "COMMIT"}, {Header: "SUBJECT", Drop: 2}}
		v.Above = append(v.Above, term.OneLine(strings.Join(slices.Compact([]string{b.sweep.Suite, search.Steps[0].Point, search.Steps[0].Metric}), " · ")))
	}
	v.Columns = append(v.Columns, []term.Column{
		{Header: "CHANGE", Right: true}, {Header: "INTERVAL", Right: true}, {Header: "BLOCKS", Right: true, Drop: 1}, {Header: "RESULT"},
	}...)
	findings := search.Findings(end)
	for _, f := range findings {
		v.Rows = append(v.Rows, b.cells(f, len(end.Candidates) > 0))
	}
	if len(end.Candidates) == 1 {
		v.Commands = b.next(findings[0])
	}
	return v
}

// next are the commands to type next.
func (b *bisector) next(first bisect.Finding) []string {
	commands := []string{"next  git show " + wording.ShortCommit(first.Commit.ID)}
	if session := first.Step.Session; session != "" {
		command := "      neurolens compare session=" + wording.ShortRun(session)
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

func (b *bisector) headline(end bisect.End) string {
	good := wording.ShortCommit(b.history.Good.ID)
	switch n := len(end.Candidates); n {
	case 0:
		return fmt.Sprintf("no point is known to differ between %s and %s", good, wording.ShortCommit(b.history.Bad.ID))
	case 1:
		return fmt.Sprintf("first changed commit after %s: %s", good, term.OneLine(commitText(end.Candidates[0])))
	default:
		return fmt.Sprintf("the first changed commit after %s is one of %d", good, n)
	}
}

// cells are those of a row: of a commit, or of a point in which the ends do not differ.
func (b *bisector) cells(f bisect.Finding, commits bool) []term.Cell {
	change, interval, blocks := term.Unknown, term.Unknown, term.Unknown
	if f.Step.Confidence > 0 {
		change, interval, _ = strings.Cut(bisectedChange(f.Step), " (")
		interval, blocks = strings.TrimSuffix(interval, ")"), term.Thousands(f.Step.Blocks)
	}
	cells := []term.Cell{{Text: term.OneLine(wording.OrUnknown(f.Step.Point))}}
	if commits {
		cells = []term.Cell{{Text: wording.ShortCommit(f.Commit.ID)}, {Text: term.OneLine(f.Commit.Subject)}}
	}
	return append(cells, term.Cell{Text: change}, term.Cell{Text: interval}, term.Cell{Text: blocks},
		term.Cell{Text: strings.ReplaceAll(string(f.Result), "_", " "), Failed: f.Result == bisect.Failed})
}

// below says why what was not measured was not, counts what was tested, and says how sure the answer is.
func (b *bisector) below(search *bisect.Search, end bisect.End) []string {
	if len(end.Candidates) == 0 {
		return b.belowAlike(search, end)
	}
	var lines []string
	for _, f := range search.Findings(end) {
		if f.Step.Reason != "" {
			lines = append(lines, term.OneLine(wording.ShortCommit(f.Commit.ID)+" was skipped: "+f.Step.Reason))
		}
	}
	results := map[string]int{}
	for _, step := range search.Steps {
		results[step.Result]++
	}
	return append(lines,
		fmt.Sprintf("%s, %d tested: %d like GOOD, %d like BAD, %d skipped; %s", term.Count(len(b.history.Commits), "commit"), len(search.Steps),
			results[bisect.Good], results[bisect.Bad], results[bisect.Skip], term.Count(search.Measured(end), "block")),
		"at most 5 % of such searches name a wrong commit", "",
	)
}

// belowAlike is that of ends which are not known to differ.
func (b *bisector) belowAlike(search *bisect.Search, end bisect.End) []string {
	findings := search.Findings(end)
	var lines []string
	for _, f := range findings {
		if f.Step.Reason != "" {
			lines = append(lines, term.OneLine(f.Step.Point+": "+f.Step.Reason))
		}
	}
	lines = append(lines, fmt.Sprintf("%s, %s; %s", term.Count(len(findings), "point"), term.Count(len(b.history.Commits), "commit"), term.Count(search.Measured(end), "block")))
	if slices.ContainsFunc(findings, func(f bisect.Finding) bool { return f.Result == bisect.Unchanged }) {
		lines = append(lines, "unchanged: the interval lies within the least change (--threshold)")
	}
	if end.More > 0 {
		lines = append(lines, fmt.Sprintf("inconclusive: about %s of each side are likely to tell, --max-blocks %d", term.Count(end.More, "run"), end.More))
	}
	return lines
}
