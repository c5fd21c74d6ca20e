package measuring

import (
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner"
)

// failing is a reason why points will fail.
type failing struct {
	why    string
	points int
}

// failingOf lists the reasons why points of a plan will fail, in the order of the launches.
func failingOf(p *runner.Plan) []failing {
	var all []failing
	at, seen := map[string]int{}, map[[2]string]bool{}
	for _, l := range p.Launches {
		if l.Fails == "" || l.Done != nil {
			continue
		}
		point := [2]string{l.Fails, l.Launch.Point.PointID}
		if seen[point] {
			continue
		}
		seen[point] = true
		if _, known := at[l.Fails]; !known {
			at[l.Fails] = len(all)
			all = append(all, failing{why: l.Fails})
		}
		all[at[l.Fails]].points++
	}
	return all
}

// failingLines say which points will fail and why, one line for each reason.
func failingLines(p *runner.Plan) []string {
	const enough = 5
	var lines []string
	rest := 0
	for i, f := range failingOf(p) {
		if i < enough {
			lines = append(lines, term.OneLine(term.Count(f.points, "point")+" will fail: "+f.why))
		} else {
			rest += f.points
		}
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("%s more will fail for other reasons: --dry-run --json lists all", term.Thousands(rest)))
	}
	return lines
}
