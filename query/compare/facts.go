package compare

import (
	"context"
	"database/sql/driver"
	"maps"
	"slices"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Facts are read from all runs of a side. If there are more than maxFactRuns, they are read from the first run of each of the newest
// maxStrata strata.
const (
	maxFactRuns = 5000
	maxStrata   = 500
)

// sideFacts are the different values of each fact on a side.
type sideFacts map[string]map[string]bool

// Add adds the facts of a run.
func (f sideFacts) Add(run map[string]string) {
	for name, value := range run {
		if f[name] == nil {
			f[name] = map[string]bool{}
		}
		f[name][value] = true
	}
}

// Differences are the facts in which two sides differ. A fact that is unknown on a side with only imported runs is not a difference.
func (f sideFacts) Differences(head sideFacts, of, as *selectedSide) []query.FactDifference {
	names := map[string]bool{}
	for name := range f {
		names[name] = true
	}
	for name := range head {
		names[name] = true
	}
	var all []query.FactDifference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		base, other := slices.Sorted(maps.Keys(f[name])), slices.Sorted(maps.Keys(head[name]))
		unknown := len(base) == 0 && of.Imported == of.Runs || len(other) == 0 && as.Imported == as.Runs
		if !unknown && !slices.Equal(base, other) {
			all = append(all, query.FactDifference{Kind: query.FactKindOf(name), Name: name, Base: base, Head: other})
		}
	}
	return all
}

// Facts reads the facts of the side, and sets FactRuns.
func (s *selectedSide) Facts(ctx context.Context, r *scan.Reader) (sideFacts, error) {
	found := sideFacts{}
	if s.Runs <= maxFactRuns {
		s.FactRuns = s.Runs
		return found, s.allFacts(ctx, r, found)
	}
	var ids []schema.ULID
	for _, t := range s.Strata[max(len(s.Strata)-maxStrata, 0):] {
		id, err := schema.ParseULID(t.FirstRun)
		if err != nil {
			return nil, &duck.Error{Message: err.Error(), Kind: duckdb.ErrorTypeIO}
		}
		ids = append(ids, id)
	}
	s.FactRuns = len(ids)
	known, err := query.Facts(ctx, r, ids)
	for _, run := range known {
		found.Add(run)
	}
	return found, err
}

// allFacts adds the facts of every run of the side. DuckDB finds the different values.
func (s *selectedSide) allFacts(ctx context.Context, r *scan.Reader, found sideFacts) error {
	names := query.FactColumns()
	columns, err := scan.RunColumns(append(names[:len(names):len(names)], "env", "applied", "purpose"))
	if err != nil {
		return err
	}
	rows := s.Sel.Src.Scan(scan.WithColumns(columns, s.Sel.Columns), s.Sel.RestrictedTo(scan.IsMeasurement)) + " AS r"
	err = r.Conn.Query(ctx, duck.Statement{SQL: "SELECT DISTINCT " + scan.ColumnNamesOf("r", names) + " FROM " + rows, Args: s.Sel.Args}, func(row []driver.Value) error {
		run := map[string]string{}
		for i, v := range row {
			query.AddFact(run, names[i], duck.Plain(v))
		}
		found.Add(run)
		return nil
	})
	if err != nil {
		return err
	}
	entries := func(column string) string {
		return "SELECT '" + column + ".' || e.key AS name, e.value AS value FROM (SELECT unnest(map_entries(r." + column + ")) AS e FROM " + rows + ")"
	}
	text := "SELECT DISTINCT name, value FROM (" + entries("env") + " UNION ALL " + entries("applied") + ")"
	return r.Conn.Query(ctx, duck.Statement{SQL: text, Args: s.Sel.Args}, func(row []driver.Value) error {
		found.Add(map[string]string{duck.Text(row[0]): duck.Text(row[1])})
		return nil
	})
}

// PointFacts are the values of entries of env, by point id and by name: the value that all runs of the point have that have the entry.
// An entry with several values is left out.
func (s *selectedSide) PointFacts(ctx context.Context, r *scan.Reader, names []string) (map[string]map[string]string, error) {
	columns, err := scan.RunColumns([]string{"point_id", "env", "purpose"})
	if err != nil {
		return nil, err
	}
	text := "SELECT point_id"
	for _, name := range names {
		entry := "env[" + duck.Literal(name) + "]"
		text += ", CASE WHEN min(" + entry + ") = max(" + entry + ") THEN min(" + entry + ") END"
	}
	text += " FROM " + s.Sel.Src.Scan(scan.WithColumns(columns, s.Sel.Columns), s.Sel.RestrictedTo(scan.IsMeasurement)) + " GROUP BY point_id"
	found := map[string]map[string]string{}
	err = r.Conn.Query(ctx, duck.Statement{SQL: text, Args: s.Sel.Args}, func(row []driver.Value) error {
		said := map[string]string{}
		for i, name := range names {
			if value := duck.Text(row[1+i]); value != "" {
				said[name] = value
			}
		}
		found[duck.Text(row[0])] = said
		return nil
	})
	return found, err
}
