package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// Failure describes the runs with one status other than ok, and the reasons.
type Failure struct {
	Status string  `json:"status" doc:"status of the runs"`
	Wrong  bool    `json:"wrong_result" doc:"whether their result is wrong"`
	Runs   int     `json:"runs" doc:"number of runs"`
	Points int     `json:"points" doc:"number of entries in points that have such runs"`
	Stages []Text  `json:"stages" doc:"stages in which they ended, without repetition"`
	Causes []Cause `json:"causes" doc:"most frequent reasons, at most 5"`
	Others int     `json:"other_causes" doc:"number of further reasons"`
}

// Cause is a reason. Several points may have it.
type Cause struct {
	Stage     Text    `json:"stage" doc:"stage in which the runs ended; null: they ended in several"`
	ErrorKind Text    `json:"error_kind" doc:"kind of error"`
	Error     Text    `json:"error" doc:"error message; of messages that differ only in numbers the first, without the process that failed"`
	Runs      int     `json:"runs" doc:"number of runs"`
	Points    int     `json:"points" doc:"number of entries in points"`
	Example   Subject `json:"example" doc:"first point with this reason"`
}

// maxCauses is the number of reasons that a failure lists.
const maxCauses = 5

// ending is a way in which runs end.
type ending struct {
	status string
	wrong  bool
}

// failuresOf groups the runs that are not ok by status, in the order of schema.Statuses.
func failuresOf(points []Point) []Failure {
	gathered := map[ending]*gathering{}
	for i := range points {
		seen := map[ending]bool{}
		for _, reason := range points[i].Ended {
			e := ending{reason.Status, schema.IsWrong(schema.Status(reason.Status), schema.Stage(reason.Stage), string(reason.ErrorKind))}
			g := gathered[e]
			if g == nil {
				g = &gathering{failure: Failure{Status: e.status, Wrong: e.wrong, Stages: []Text{}}, causes: map[Reason]*Cause{}, last: map[*Cause]*Subject{}}
				gathered[e] = g
			}
			if !seen[e] {
				seen[e] = true
				g.failure.Points++
			}
			g.add(reason, &points[i].Subject)
		}
	}
	var all []Failure
	for _, g := range gathered {
		all = append(all, g.sum())
	}
	slices.SortFunc(all, func(a, b Failure) int {
		place := func(f Failure) int { return slices.Index(schema.Statuses, schema.Status(f.Status)) }
		return cmp.Or(cmp.Compare(place(a), place(b)), boolOrder(a.Wrong, b.Wrong))
	})
	return all
}

// gathering is a failure that is being collected.
type gathering struct {
	failure Failure
	causes  map[Reason]*Cause   // by reason without stage and number of runs, and with schema.Cause of error messages
	last    map[*Cause]*Subject // the point that was counted last
}

func (g *gathering) add(reason Reason, at *Subject) {
	g.failure.Runs += reason.Runs
	if !slices.Contains(g.failure.Stages, reason.Stage) && reason.Stage != "" {
		g.failure.Stages = append(g.failure.Stages, reason.Stage)
	}
	key := reason
	key.Runs, key.Stage, key.Error = 0, "", Text(schema.Cause(string(reason.Error)))
	c := g.causes[key]
	if c == nil {
		c = &Cause{Stage: reason.Stage, ErrorKind: reason.ErrorKind, Error: Text(schema.WithoutProcess(string(reason.Error))), Example: *at}
		g.causes[key] = c
	}
	if c.Runs += reason.Runs; g.last[c] != at {
		c.Points++
	}
	if g.last[c] = at; c.Stage != reason.Stage {
		c.Stage = ""
	}
}

func (g *gathering) sum() Failure {
	f := g.failure
	for _, c := range g.causes {
		f.Causes = append(f.Causes, *c)
	}
	slices.SortFunc(f.Causes, func(a, b Cause) int {
		return cmp.Or(b.Runs-a.Runs, strings.Compare(string(a.Error), string(b.Error)), strings.Compare(string(a.ErrorKind), string(b.ErrorKind)))
	})
	if f.Others = len(f.Causes) - maxCauses; f.Others > 0 {
		f.Causes = f.Causes[:maxCauses]
	} else {
		f.Others = 0
	}
	return f
}
