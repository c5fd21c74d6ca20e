package compare_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestLead: the lead of a point over others that differ from it in several axes has an interval that is wider the more others there are,
// and holds its reciprocal where higher values are better. Too few runs, and runs that began before those of another point, have a reason.
func TestLead(t *testing.T) {
	t.Parallel()
	n := 0
	point := func(session int, better schema.Better, backend string, batch int64, values ...float64) (id string, runs []schema.Run) {
		runs = querytest.RunsOf(&n, session, func(r *schema.Run) {
			r.Backend, r.BatchSize, r.Metrics[0].Better = backend, new(batch), better
			id = schema.PointID(r)
			r.PointID = id
		}, values...)
		return id, runs
	}
	var all []schema.Run
	add := func(session int, better schema.Better, backend string, batch int64, values ...float64) string {
		id, runs := point(session, better, backend, batch, values...)
		all = append(all, runs...)
		return id
	}
	const lower, higher = schema.BetterLower, schema.BetterHigher
	best := add(1, lower, "a", 1, 1000, 1010, 990, 1005, 995, 1002, 998, 1001)
	next := add(1, lower, "b", 2, 1200, 1190, 1214, 1205, 1195, 1199, 1201, 1203)
	last := add(1, lower, "c", 1, 2000, 2010, 1990, 2005, 1995, 2002, 1998, 2001)
	top := add(2, higher, "d", 1, 1200, 1190, 1214, 1205, 1195, 1199, 1201, 1203)
	under := add(2, higher, "e", 2, 1000, 1010, 990, 1005, 995, 1002, 998, 1001)
	few := add(3, lower, "f", 1, 1000, 1010)
	rare := add(3, lower, "g", 2, 1200, 1190)
	before := add(4, lower, "h", 1, 1000, 1010, 990, 1005)
	n += 60_000 // runs start later: one point after the other, not in blocks
	_, after := point(4, lower, "i", 2, 1200, 1190, 1214, 1205)
	for i := range after {
		after[i].BlockIndex = nil
	}
	all = append(all, after...)
	db := querytest.SealedRuns(t, all)
	leadOf := func(session int, best string, others ...string) compare.Lead {
		t.Helper()
		l, err := compare.LeadOf(context.Background(), db, "session="+querytest.SessionID(session), best, others)
		valuetest.OK(t, err, best)
		return l
	}
	alone, two := leadOf(1, best, next), leadOf(1, best, next, last)
	if alone.Scale != schema.ScaleRatio || alone.Reason != "" || alone.Low < 1.15 || alone.Low > 1.2 || alone.High < 1.2 || alone.High > 1.25 {
		t.Errorf("%+v, want about 1.2", alone)
	}
	if two.Low >= alone.Low || two.High <= alone.High || two.Low < 1.1 {
		t.Errorf("of three points %+v, of two %+v", two, alone)
	}
	if of := leadOf(2, top, under); math.Abs(of.Low-alone.Low) > .02 || math.Abs(of.High-alone.High) > .02 {
		t.Errorf("where higher is better: %+v, want about %+v", of, alone)
	}
	if of := leadOf(3, few, rare); of.Reason != judge.FewRuns || !math.IsNaN(of.Low) {
		t.Errorf("of two runs: %+v", of)
	}
	if of := leadOf(4, before, after[0].PointID); of.Reason != judge.Order || !math.IsNaN(of.Low) {
		t.Errorf("of points that ran one after the other: %+v", of)
	}
	if of := leadOf(1, best, next, "0123456789abcdef0123456789abcdef"); of.Reason != judge.Machines {
		t.Errorf("a point that cannot be compared: %+v", of)
	}
	if _, err := compare.LeadOf(context.Background(), db, "", best, []string{"0123456789abcdef0123456789abcdef"}); !errors.Is(err, query.ErrInput) {
		t.Errorf("alone: %v", err)
	}
}
