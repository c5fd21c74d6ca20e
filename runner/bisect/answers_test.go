package bisect

import (
	"testing"

	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestAnswers: the steps that compared the ends have what was found, unless they could not be measured or have no session.
func TestAnswers(t *testing.T) {
	t.Parallel()
	ends := Step{Session: "s", PointID: "p", Result: Bad, Blocks: 6}
	commits := []worktree.Commit{{ID: "c2"}, {ID: "c1"}}
	for name, c := range map[string]struct {
		steps []Step
		end   End
		want  map[Step]string
	}{
		"found":     {[]Step{ends, {Commit: "c1", Session: "t"}}, End{Candidates: commits[:1]}, map[Step]string{ends: "c2"}},
		"several":   {[]Step{ends}, End{Candidates: commits}, map[Step]string{ends: schema.BisectUndecided}},
		"by hand":   {[]Step{{Result: Bad}}, End{Candidates: commits[:1]}, map[Step]string{}},
		"no change": {nil, End{Unchanged: []Step{{PointID: "a", Result: Good}, {PointID: "b", Result: Skip}, {PointID: "c", Reason: "failed"}}}, map[Step]string{{PointID: "a", Result: Good}: schema.BisectNothing, {PointID: "b", Result: Skip}: schema.BisectUndecided}},
	} {
		s := Search{Steps: c.steps}
		valuetest.DeepEqual(t, s.Answers(c.end), c.want, name)
	}
}
