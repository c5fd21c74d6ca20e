package progress

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/bisect"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
)

// bisectedChange returns the change with its interval: +14.8 % (+14.1 +15.6).
func bisectedChange(s bisect.Step) string {
	if s.Confidence == 0 {
		return ""
	}
	scale := schema.Scale(s.Scale)
	return views.Change(s.Change, scale, s.Unit) + " (" + views.Ends(s.Low, s.High, scale, s.Unit) + ")"
}

// BisectAnswer shows how a search ended.
type BisectAnswer struct {
	Search *bisect.Search
	End    bisect.End
	Suite  string
	Metric string // that was asked for; empty: the primary one
	Dir    string // of the store
	Reader views.Display
}

// View returns the answer for people.
func (b BisectAnswer) View() term.View {
	v := term.View{Above: []string{b.headline()}, Below: b.below()}
	if len(b.End.Candidates) == 0 {
		v.Columns = []term.Column{{Header: "POINT"}}
	} else {
		v.Columns = []term.Column{{Header: "COMMIT"}, {Header: "SUBJECT", Drop: 2}}
		v.Above = append(v.Above, term.OneLine(strings.Join(titleParts(b.Suite, b.Search.Steps[0].Point, b.Search.Steps[0].Metric), " · ")))
	}
	v.Columns = append(v.Columns, []term.Column{
		{Header: "CHANGE", Right: true}, {Header: b.confidence(), Right: true}, {Header: "BLOCKS", Right: true, Drop: 1}, {Header: "RESULT"},
	}...)
	findings := b.Search.Findings(b.End)
	for _, f := range findings {
		v.Rows = append(v.Rows, b.cells(f, len(b.End.Candidates) > 0))
	}
	if len(b.End.Candidates) == 1 {
		v.Next = b.next(findings[0])
	}
	return v
}

// confidence returns the confidence level of the intervals; if they differ, the lowest.
func (b BisectAnswer) confidence() string {
	level := 1.
	for _, f := range b.Search.Findings(b.End) {
		if f.Step.Confidence > 0 {
			level = min(level, f.Step.Confidence)
		}
	}
	if level == 1 {
		return "INTERVAL"
	}
	return views.Confidence(level)
}

// next returns the commands to type next.
func (b BisectAnswer) next(first bisect.Finding) []string {
	commands := []string{"next  git show " + views.ShortCommit(first.Commit.ID)}
	if session := first.Step.Session; session != "" {
		command := "      neurolens compare session=" + views.ShortRun(session)
		if b.Metric != "" {
			command += " --metric " + term.ShellWord(b.Metric)
		}
		if len(b.Reader.Stores) > 0 {
			command += " --store " + term.ShellWord(b.Dir)
		}
		commands = append(commands, command)
	}
	return commands
}

func (b BisectAnswer) headline() string {
	good := views.ShortCommit(b.Search.History.Good.ID)
	switch n := len(b.End.Candidates); n {
	case 0:
		return fmt.Sprintf("no point is known to differ between %s and %s", good, views.ShortCommit(b.Search.History.Bad.ID))
	case 1:
		return fmt.Sprintf("first changed commit after %s: %s", good, term.OneLine(commitText(b.End.Candidates[0])))
	default:
		return fmt.Sprintf("the first changed commit after %s is one of %d", good, n)
	}
}

// cells returns the cells of a row: of a commit, or of a point in which the ends do not differ.
func (b BisectAnswer) cells(f bisect.Finding, commits bool) []term.Cell {
	change, interval, blocks := term.Unknown, term.Unknown, term.Unknown
	if f.Step.Confidence > 0 {
		change, interval, _ = strings.Cut(bisectedChange(f.Step), " (")
		interval, blocks = strings.TrimSuffix(interval, ")"), term.Thousands(f.Step.Blocks)
	}
	cells := []term.Cell{{Text: term.OneLine(views.OrUnknown(f.Step.Point))}}
	if commits {
		cells = []term.Cell{{Text: views.ShortCommit(f.Commit.ID)}, {Text: term.OneLine(f.Commit.Subject)}}
	}
	return append(cells, term.Cell{Text: change}, term.Cell{Text: interval}, term.Cell{Text: blocks},
		term.Cell{Text: strings.ReplaceAll(string(f.Result), "_", " "), Failed: f.Result == bisect.Failed})
}

// below says why what was not measured was not, counts what was tested, and says how sure the answer is.
func (b BisectAnswer) below() []string {
	if len(b.End.Candidates) == 0 {
		return b.belowAlike()
	}
	var lines []string
	for _, f := range b.Search.Findings(b.End) {
		if f.Step.Reason != "" {
			lines = append(lines, term.OneLine(views.ShortCommit(f.Commit.ID)+" was skipped: "+f.Step.Reason))
		}
	}
	results := map[string]int{}
	for _, step := range b.Search.Steps {
		results[step.Result]++
	}
	return append(lines,
		fmt.Sprintf("%s, %d tested: %d like GOOD, %d like BAD, %d skipped; %s", term.Count(len(b.Search.History.Commits), "commit"), len(b.Search.Steps),
			results[bisect.Good], results[bisect.Bad], results[bisect.Skip], term.Count(b.Search.Measured(b.End), "block")),
		"at most 5 % of such searches name a wrong commit", "",
	)
}

// belowAlike is that of ends which are not known to differ.
func (b BisectAnswer) belowAlike() []string {
	findings := b.Search.Findings(b.End)
	var lines []string
	for _, f := range findings {
		if f.Step.Reason != "" {
			lines = append(lines, term.OneLine(f.Step.Point+": "+f.Step.Reason))
		}
	}
	lines = append(lines, fmt.Sprintf("%s, %s; %s", term.Count(len(findings), "point"), term.Count(len(b.Search.History.Commits), "commit"), term.Count(b.Search.Measured(b.End), "block")))
	if slices.ContainsFunc(findings, func(f bisect.Finding) bool { return f.Result == bisect.Unchanged }) {
		lines = append(lines, "unchanged: the interval lies within the threshold (--threshold)")
	}
	if b.End.More > 0 {
		lines = append(lines, fmt.Sprintf("inconclusive: about %s per side would probably decide it (--max-blocks %d)", term.Count(b.End.More, "run"), b.End.More))
	}
	return lines
}

// bisectRow is what was found of a commit or a point, in a search.
type bisectRow struct {
	bisect.Finding
	search *bisect.Search
	end    bisect.End
}

// BisectRows returns the answer of a search that has ended.
func BisectRows(search *bisect.Search, end bisect.End) []bisectRow {
	var rows []bisectRow
	for _, f := range search.Findings(end) {
		rows = append(rows, bisectRow{f, search, end})
	}
	return rows
}

// BisectFields returns the columns of the answer.
func BisectFields() []answer.Field[bisectRow] {
	field, text := answer.NewField[bisectRow], answer.TextField[bisectRow]
	integer := func(name, meaning string, of func(*bisectRow) int) answer.Field[bisectRow] {
		return field(name, answer.TypeInteger, meaning, func(r *bisectRow) any { return int64(of(r)) })
	}
	real := func(name, meaning string, of func(*bisect.Step) float64) answer.Field[bisectRow] {
		return field(name, answer.TypeReal, meaning, func(r *bisectRow) any {
			if r.Step.Confidence == 0 { // there is no interval
				return nil
			}
			return answer.Real(of(&r.Step))
		})
	}
	return []answer.Field[bisectRow]{
		text("result", "first_changed, or candidate if several are left; for a point at which GOOD and BAD do not differ: unchanged, inconclusive or failed", func(r *bisectRow) string { return string(r.Result) }),
		text("git_commit", "the commit", func(r *bisectRow) string { return r.Commit.ID }),
		field("subject", answer.TypeText, "the first line of its message", func(r *bisectRow) any { return r.Commit.Subject }),
		text("tested", "good, bad or skip: how the commit was judged; NULL if it was not measured", func(r *bisectRow) string { return r.Step.Result }),
		text("reason", "why it was skipped", func(r *bisectRow) string { return r.Step.Reason }),
		text("point", "the point that is bisected, in words", func(r *bisectRow) string { return r.Step.Point }),
		text("point_id", "its id", func(r *bisectRow) string { return r.Step.PointID }),
		text("metric", "the metric that is compared", func(r *bisectRow) string { return r.Step.Metric }),
		text("unit", "the stored unit of the metric", func(r *bisectRow) string { return r.Step.Unit }),
		text("scale", "ratio or difference: how its values are compared", func(r *bisectRow) string { return r.Step.Scale }),
		real("change", "change from the good commit to this one: ratio minus 1 or, if the scale is difference, in the unit", func(s *bisect.Step) float64 { return s.Change }),
		real("low", "the lower end of its interval", func(s *bisect.Step) float64 { return s.Low }),
		real("high", "the upper end of its interval", func(s *bisect.Step) float64 { return s.High }),
		real("confidence", "the confidence level of the interval, as a ratio", func(s *bisect.Step) float64 { return s.Confidence }),
		integer("blocks", "how many blocks of the commit were measured", func(r *bisectRow) int { return r.Step.Blocks }),
		text("session_id", "the session in which it was measured", func(r *bisectRow) string { return r.Step.Session }),
		text("base_commit", "the good commit", func(r *bisectRow) string { return r.search.History.Good.ID }),
		integer("commits", "how many commits were searched", func(r *bisectRow) int { return len(r.search.History.Commits) }),
		integer("steps", "how many of them were tested", func(r *bisectRow) int { return len(r.search.Steps) }),
		integer("blocks_all", "how many blocks were measured in all", func(r *bisectRow) int { return r.search.Measured(r.end) }),
	}
}

// BisectProgress says on standard error what a search is doing: one line a step, and on a terminal one that changes.
type BisectProgress struct {
	w      io.Writer
	screen *term.Screen // what of w can be drawn over; nil: nobody watches
	search *bisect.Search
	commit worktree.Commit
}

// NewBisectProgress says on a console how a search goes on.
func NewBisectProgress(c Console, search *bisect.Search) *BisectProgress {
	return &BisectProgress{w: c.W, screen: c.Screen, search: search}
}

// Begin says what is searched.
func (p *BisectProgress) Begin(points int) {
	h := p.search.History
	p.say(fmt.Sprintf("bisect %s: good %s, bad %s, %s", term.Count(len(h.Commits), "commit"), commitText(h.Good), commitText(h.Bad), term.Count(points, "point")))
}

// Log names the log of the search, and how many steps are in it.
func (p *BisectProgress) Log(path string, known int) {
	text := "log " + path
	if known > 0 {
		text += ": continues after " + term.Count(known, "step")
	}
	p.say(text)
}

// say writes a line that stays.
func (p *BisectProgress) say(line string) {
	if p.screen == nil {
		fmt.Fprintln(p.w, term.OneLine(line))
		return
	}
	columns := p.screen.Width()
	p.screen.Draw(term.Wrapped(term.OneLine(line), columns), func(int) []string { return nil })
}

// shows writes a line that the next one replaces, on a terminal.
func (p *BisectProgress) shows(line string) {
	if p.screen != nil {
		p.screen.Draw(nil, func(columns int) []string { return []string{term.Cut(term.OneLine(line), columns)} })
	}
}

// number returns the step that is being taken, of about how many.
func (p *BisectProgress) number() string {
	return fmt.Sprintf("step %d of about %d", len(p.search.Steps)+1, max(p.search.Total(), len(p.search.Steps)+1))
}

// Test begins a step.
func (p *BisectProgress) Test(c worktree.Commit) {
	p.commit = c
	p.shows(p.number() + ": " + commitText(c))
}

// Observe is told what happens in the session of a step.
func (p *BisectProgress) Observe(e runner.Event) {
	text := p.number() + ": " + commitText(p.commit)
	switch {
	case e.Run != nil:
		text += fmt.Sprintf("  run %d of %d", e.Index+1, e.Launches)
	case e.Waiting != "", e.Build != nil:
		text += "  " + description{}.preparation(e)
		if e.Waiting != "" && p.screen == nil {
			p.say(description{}.preparation(e))
		}
	default:
		return
	}
	p.shows(text)
}

// worthSaying is after how many blocks that do not decide it is said, where nothing else shows that a step goes on.
const worthSaying = 30

// Looked says that a look has not decided, after so many blocks, of so many points.
func (p *BisectProgress) Looked(blocks, open int) {
	if open == 0 || p.screen != nil {
		return
	}
	if blocks >= worthSaying && blocks < p.search.MaxBlocks {
		p.say(fmt.Sprintf("%s: %s: not decided after %s, measuring more", p.number(), commitText(p.commit), term.Count(blocks, "block")))
	}
}

// Step says what was found of a commit, which the search counts already.
func (p *BisectProgress) Step(step bisect.Step) {
	number := fmt.Sprintf("step %d of about %d", len(p.search.Steps), p.search.Total())
	p.say(number + ": " + stepText(step, p.commit))
}

// stepText returns the commit, what was measured and what it is like.
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

// commitText returns a commit as people know it: abc1234 "subject".
func commitText(c worktree.Commit) string {
	return views.ShortCommit(c.ID) + ` "` + c.Subject + `"`
}
