package progress

import (
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner"
)

// foreseen is a reason why points will not be measured.
type foreseen struct {
	why    string
	points int
	sides  map[int]bool // where
}

// foreseenOf lists the reasons that why has for the launches of a plan, in their order.
func foreseenOf(p *runner.Plan, why func(runner.Planned) string) []foreseen {
	var all []foreseen
	at, seen := map[string]int{}, map[[2]string]bool{}
	for _, l := range p.Launches {
		text := why(l)
		if text == "" || l.Done != nil {
			continue
		}
		if _, known := at[text]; !known {
			at[text] = len(all)
			all = append(all, foreseen{why: text, sides: map[int]bool{}})
		}
		f := &all[at[text]]
		f.sides[l.Launch.Side] = true
		if point := [2]string{text, l.Launch.Point.PointID}; !seen[point] {
			seen[point] = true
			f.points++
		}
	}
	return all
}

// failingLines say which points will fail or be skipped, where skip_if does not say it, and why, one line for each reason.
func failingLines(p *runner.Plan) []string {
	return append(foreseenLines(p, "will fail", failsBy), foreseenLines(p, "will be skipped", skipsBy)...)
}

func failsBy(l runner.Planned) string { return l.Fails }

func skipsBy(l runner.Planned) string { return l.Skips }

func foreseenLines(p *runner.Plan, what string, why func(runner.Planned) string) []string {
	const enough = 5
	var lines []string
	rest := 0
	for i, f := range foreseenOf(p, why) {
		if i >= enough {
			rest += f.points
			continue
		}
		where := ""
		if len(p.Sides) > 1 && len(f.sides) == 1 {
			for side := range f.sides {
				where = " on the " + sides[side]
			}
		}
		lines = append(lines, term.OneLine(term.Count(f.points, "point")+" "+what+where+": "+f.why))
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("%s more %s for other reasons: --dry-run --json lists all", term.Thousands(rest), what))
	}
	return lines
}
