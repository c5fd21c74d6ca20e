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
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

const (
	maxProfiled  = 200 // points of which operators are read: those that were profiled last
	maxLooked    = 2000
	maxOperators = 20 // rows of a chart of operators
	maxOps       = 24 // columns of it
)

// Profile is the newest profiled run of a point, on one machine and of one side, with its operators: those that took longest first.
type Profile struct {
	Run   schema.Run // without metrics
	Name  string     // by that in which the points differ
	Parts []summary.MixPart
}

// Profiles returns the newest profiled runs of points that match, those of the points that were profiled last first.
func (m Maker) Profiles(ctx context.Context, db *query.DB, selection string) ([]Profile, error) {
	list := query.ListRequest{Filter: filter.JoinArguments(selection, "purpose=profile", "status=ok"), Limit: maxLooked}
	runs, err := db.Runs(ctx, list, append([]string{"run_id", "session_id", "point_id", "side", "machine", "started_at"}, query.IdentityColumns()...)...)
	if err != nil {
		return nil, err
	}
	var all []Profile
	var ids []string
	seen := map[[3]string]bool{}
	for i := range runs {
		r := &runs[i]
		key := [3]string{r.PointID, r.Env.Machine, r.Side}
		if !seen[key] && len(all) < maxProfiled {
			all, ids = append(all, Profile{Run: *r}), append(ids, r.RunID)
		}
		seen[key] = true
	}
	parts, err := summary.OperatorMixes(ctx, db, slices.Sorted(slices.Values(ids)))
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Parts = parts[all[i].Run.RunID]
	}
	all = slices.DeleteFunc(all, func(p Profile) bool { return len(p.Parts) == 0 })
	subjects := make([]views.Subject, len(all))
	for i := range all {
		subjects[i] = views.Subject{Point: query.ListedRunOf(&all[i].Run).Point, Side: all[i].Run.Side}
	}
	_, names := named(subjects, axisColumns)
	for i, name := range names {
		all[i].Name = cmp.Or(name, plain(all[i].Run.Benchmark), views.ShortRun(all[i].Run.RunID))
	}
	return all, nil
}

// Operators draws which share of the time of profiled runs each operator takes: those that take most of any run.
func (m Maker) Operators(profiles []Profile) (*chart.Figure, error) {
	if len(profiles) == 0 {
		return nil, refused("no matching run has operators: bench --profile ort or --profile torch measures them, and ingest reads profiles")
	}
	f := &chart.Figure{Kind: chart.Heatmap, Title: "operators of profiled runs", Values: chart.Axis{Label: "share of the time", Unit: "ratio"}}
	if n := len(profiles); n > maxOps {
		f.Notes = append(f.Notes, shown(maxOps, n, "points", "those that were profiled last (a filter chooses others)"))
		profiles = profiles[:maxOps]
	}
	f.X, f.Y = chart.Axis{Label: "point", Scale: chart.Categories}, chart.Axis{Label: "operator", Scale: chart.Categories}
	order := byShare(profiles)
	if n := len(order); n > maxOperators {
		f.Notes = append(f.Notes, shown(maxOperators, n, "operators", "those with the largest share of any run"))
		order = order[:maxOperators]
	}
	f.Y.Categories = plainAll(order)
	cells := chart.Series{Style: chart.Cells}
	for x := range profiles {
		p := &profiles[x]
		f.X.Categories = append(f.X.Categories, p.Name)
		for i := range p.Parts {
			y := slices.Index(order, p.Parts[i].Operator)
			if y < 0 {
				continue
			}
			cells.Marks = append(cells.Marks, chart.Mark{
				X: float64(x), Y: float64(y), Low: chart.Unknown(), High: chart.Unknown(), Value: p.Parts[i].Share, Run: p.Run.RunID, Point: p.Run.PointID,
				Text: partText(p, &p.Parts[i]), Command: "neurolens show " + views.ShortRun(p.Run.RunID) + " --ops" + m.Reader.OfStores(),
			})
		}
	}
	f.Series = []chart.Series{cells}
	f.Notes = append(f.Notes, "the newest profiled run of each point; operators of one type are combined; an empty cell: the run lacks the operator")
	return f, nil
}

// byShare returns the operators of some runs, those first of which some run has the largest share.
func byShare(profiles []Profile) (order []string) {
	largest := map[string]float64{}
	for i := range profiles {
		for _, part := range profiles[i].Parts {
			if _, known := largest[part.Operator]; !known {
				order = append(order, part.Operator)
			}
			largest[part.Operator] = max(largest[part.Operator], part.Share)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int {
		return cmp.Or(cmp.Compare(largest[b], largest[a]), strings.Compare(a, b))
	})
	return order
}

// partText returns an operator of a run in words.
func partText(p *Profile, part *summary.MixPart) string {
	count := ""
	if part.Count != nil {
		count = term.Count(int(*part.Count), "execution")
	}
	return sentence(fmt.Sprintf("%s of %s: %s of the time", plain(part.Operator), p.Name, views.Share(part.Share)), term.Quantity(part.DurationNS, "ns"), count)
}
