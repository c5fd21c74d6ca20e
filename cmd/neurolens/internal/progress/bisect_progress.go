package progress

import (
	"fmt"
	"io"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/bisect"
	"github.com/neurolens/neurolens/runner/worktree"
)

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

// number is the step that is being taken, of about how many.
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

// commitText is a commit as people know it: abc1234 "subject".
func commitText(c worktree.Commit) string {
	return views.ShortCommit(c.ID) + ` "` + c.Subject + `"`
}
