package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// Whole fails the test if verify finds damage, or a run twice.
func Whole(t testing.TB, dir string) {
	t.Helper()
	for _, f := range Findings(t, dir) {
		if f.Severity == check.SeverityDamage || strings.Contains(f.Problem, "stand in") {
			t.Fatalf("%s: %+v", dir, f)
		}
	}
}

// Findings returns the findings of verify for a store.
func Findings(t testing.TB, dir string) []check.Finding {
	t.Helper()
	var all []check.Finding
	valuetest.Must(check.Verify(context.Background(), dir, func(found check.Finding) { all = append(all, found) }))
	return all
}

// Damage returns the findings that are damage.
func Damage(all []check.Finding) []check.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f check.Finding) bool { return f.Severity != check.SeverityDamage })
}

// Repair repairs a store and gives the actions.
func Repair(t testing.TB, dir string, dryRun bool) (done []check.Repair, left int) {
	t.Helper()
	did := func(r check.Repair) { done = append(done, r) }
	if dryRun {
		return done, valuetest.Must(check.PlanRepair(context.Background(), dir, did)).Left
	}
	store := valuetest.Must(check.OpenToRepair(dir, "test"))
	defer store.Close()
	repaired := valuetest.Must(store.Repair(context.Background(), did))
	return done, repaired.Left
}
