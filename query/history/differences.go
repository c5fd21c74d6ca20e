package history

import (
	"context"
	"maps"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// explainedAtOnce is the number of changes whose facts are read at a time: each run has many facts.
const explainedAtOnce = 200

// explainChanges fills in Change.Differs and Change.Sweep for all changes of the series.
func explainChanges(ctx context.Context, r *scan.Reader, series []Series) error {
	var changes []*Change
	for _, s := range series {
		for i := range s.Changes {
			changes = append(changes, &s.Changes[i])
		}
	}
	// Sorted by time, because runs of the same time are in the same files.
	slices.SortFunc(changes, func(a, b *Change) int { return scan.CompareIDs(a.headRun, b.headRun) })
	for some := range slices.Chunk(changes, explainedAtOnce) {
		var ids []schema.ULID
		for _, c := range some {
			ids = append(ids, c.baseRun, c.headRun, c.lastRun)
		}
		slices.SortFunc(ids, scan.CompareIDs)
		known, err := query.Facts(ctx, r, slices.Compact(ids))
		if err != nil {
			return err
		}
		for _, c := range some {
			c.Sweep = known[c.headRun]["env.sweep.file"]
			c.Differs = lastingFacts(known[c.baseRun], known[c.headRun], known[c.lastRun])
		}
	}
	return nil
}

// lastingFacts returns the facts, except the commit, that differ between base and head and still differ between base and last; the
// most important first.
func lastingFacts(base, head, last map[string]string) []query.FactDifference {
	names := slices.Concat(slices.Collect(maps.Keys(base)), slices.Collect(maps.Keys(head)))
	slices.Sort(names)
	known := func(facts map[string]string, name string) []string {
		if value, ok := facts[name]; ok {
			return []string{value}
		}
		return nil
	}
	var all []query.FactDifference
	for _, name := range slices.Compact(names) {
		was, is := known(base, name), known(head, name)
		if name != "git_commit" && !slices.Equal(was, is) && !slices.Equal(was, known(last, name)) {
			all = append(all, query.FactDifference{Kind: query.FactKindOf(name), Name: name, Base: was, Head: is})
		}
	}
	slices.SortStableFunc(all, func(a, b query.FactDifference) int { return query.FactRank(a) - query.FactRank(b) })
	return all
}
