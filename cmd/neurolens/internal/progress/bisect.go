package progress

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/runner/bisect"
	"github.com/neurolens/neurolens/schema"
)

// bisectedChange is the change with its interval: +14.8 % (+14.1 +15.6).
func bisectedChange(s bisect.Step) string {
	if s.Confidence == 0 {
		return ""
	}
	scale := schema.Scale(s.Scale)
	return views.Change(s.Change, scale, s.Unit) + " (" + views.Interval(s.Low, s.High, scale, s.Unit) + ")"
}

// BisectAnswer shows how a search ended.
type BisectAnswer struct {
	Search *bisect.Search
	End    bisect.End
	Suite  string
	Metric string // that was asked for; empty: the primary one
	Dir    string // of the store
	Reader views.Reader
}

// View is the answer for people.
func (b BisectAnswer) View() term.View {
	v := term.View{Above: []string{b.headline()}, Below: b.below()}
	if len(b.End.Candidates) == 0 {
		v.Columns = []term.Column{{Header: "POINT"}}
	} else {
		v.Columns = []term.Column{{Header: "COMMIT"}, {Header: "SUBJECT", Drop: 2}}
		v.Above = append(v.Above, term.OneLine(strings.Join(titleParts(b.Suite, b.Search.Steps[0].Point, b.Search.Steps[0].Metric), " · ")))
	}
	v.Columns = append(v.Columns, []term.Column{
		{Header: "CHANGE", Right: true}, {Header: "INTERVAL", Right: true}, {Header: "BLOCKS", Right: true, Drop: 1}, {Header: "RESULT"},
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

// next are the commands to type next.
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

// cells are those of a row: of a commit, or of a point in which the ends do not differ.
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
