package query

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/schema"
)

// explainChanges finds in what the environment of the session of each change differs from that of the one before.
func (r *reader) explainChanges(ctx context.Context, h *History) error {
	var ids []schema.ULID
	for _, s := range h.Series {
		for _, c := range s.Changes {
			for _, text := range []string{c.baseRun, c.headRun} {
				id, err := schema.ParseULID(text)
				if err != nil {
					return &engineErr{message: err.Error(), kind: duckdb.ErrorTypeIO}
				}
				ids = append(ids, id)
			}
		}
	}
	slices.SortFunc(ids, compareIDs)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil
	}
	facts, err := r.factsOf(ctx, ids)
	if err != nil {
		return err
	}
	for _, s := range h.Series {
		for i := range s.Changes {
			c := &s.Changes[i]
			c.Differs = differing(facts[c.baseRun], facts[c.headRun])
		}
	}
	return nil
}

// factsOf are the facts of runs, by their ids: columns of runs, env.NAME and applied.NAME, as texts.
func (r *reader) factsOf(ctx context.Context, ids []schema.ULID) (map[string]map[string]string, error) {
	names := []string{"env", "applied"}
	for _, f := range comparedFacts {
		if f.name != "git_commit" {
			names = append(names, f.name)
		}
	}
	columns, err := runColumns(names)
	if err != nil {
		return nil, err
	}
	t, err := r.rows(ctx, ids, columns)
	if err != nil {
		return nil, err
	}
	all := make(map[string]map[string]string, len(ids))
	for i, row := range t.Rows {
		facts := map[string]string{}
		for k, column := range t.Columns {
			addFact(facts, column.Name, row[k])
		}
		all[ids[i].String()] = facts
	}
	return all, nil
}

// addFact adds the value of a column, or the entries of a map.
func addFact(facts map[string]string, name string, value any) {
	switch value := value.(type) {
	case nil:
	case map[string]any:
		for key, entry := range value {
			addFact(facts, name+"."+key, entry)
		}
	default:
		facts[name] = fmt.Sprint(value)
	}
}

// differing are the facts that two runs have different values of, those that matter most first. A fact that one of them
// lacks has not changed: it was not known.
func differing(base, head map[string]string) []Difference {
	var all []Difference
	for _, name := range slices.Sorted(maps.Keys(base)) {
		was, is := base[name], head[name]
		if _, ok := head[name]; !ok || was == is {
			continue
		}
		all = append(all, Difference{kindOfFact(name), name, []string{was}, []string{is}})
	}
	slices.SortStableFunc(all, func(a, b Difference) int { return rankOf(a) - rankOf(b) })
	return all
}
