package compare

import (
	"context"
	"database/sql/driver"
	"maps"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/internal/sides"
	"github.com/neurolens/neurolens/schema"
)

// Facts are read of all runs of a side, unless there are more than mostFactRuns: then of the first run of each benchmark
// and backend of the newest sessions, mostStrata of them.
const (
	mostFactRuns = 5000
	mostStrata   = 500
)

// factValues are the values of each fact on a side.
type factValues map[string]map[string]bool

// thresholds adds those that sweeps gave to those that are given. Of two of one metric neither counts.
func (f factValues) thresholds(given map[string]Threshold) map[string]Threshold {
	all := maps.Clone(given)
	if all == nil {
		all = map[string]Threshold{}
	}
	_, general := given[""]
	for name, values := range f {
		metric, ok := strings.CutPrefix(name, "env."+thresholdFact)
		if _, has := given[metric]; !ok || has || len(values) != 1 {
			continue
		}
		for text := range values {
			if t, err := ThresholdOf(text); err == nil && (t.Absolute || !general) {
				all[metric] = t
			}
		}
	}
	return all
}

// differences are the facts in which two sides differ.
func differences(base, head factValues) []facts.Difference {
	names := map[string]bool{}
	for name := range base {
		names[name] = true
	}
	for name := range head {
		names[name] = true
	}
	var all []facts.Difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		of, as := slices.Sorted(maps.Keys(base[name])), slices.Sorted(maps.Keys(head[name]))
		if !slices.Equal(of, as) {
			all = append(all, facts.Difference{Kind: facts.KindOf(name), Name: name, Base: of, Head: as})
		}
	}
	return all
}

// add adds those of a run.
func (f factValues) add(run map[string]string) {
	for name, value := range run {
		if f[name] == nil {
			f[name] = map[string]bool{}
		}
		f[name][value] = true
	}
}

// facts reads those of a side.
func (m *comparing) facts(ctx context.Context, s *sides.Selected) (factValues, error) {
	found := factValues{}
	if s.Runs <= mostFactRuns {
		s.FactRuns = s.Runs
		return found, m.allFacts(ctx, s, found)
	}
	var ids []schema.ULID
	for _, t := range s.Strata[max(len(s.Strata)-mostStrata, 0):] {
		id, err := schema.ParseULID(t.FirstRun)
		if err != nil {
			return nil, &duck.Error{Message: err.Error(), Kind: duckdb.ErrorTypeIO}
		}
		ids = append(ids, id)
	}
	s.FactRuns = len(ids)
	known, err := facts.Of(ctx, m.Reader, ids)
	for _, run := range known {
		found.add(run)
	}
	return found, err
}

// allFacts adds those of every run of a side: DuckDB finds the different ones.
func (m *comparing) allFacts(ctx context.Context, s *sides.Selected, found factValues) error {
	names := facts.Columns()
	columns, err := scan.RunColumns(append(names[:len(names):len(names)], "env", "applied", "purpose"))
	if err != nil {
		return err
	}
	rows := s.Sel.Src.Scan(scan.WithColumns(columns, s.Sel.Columns), s.Sel.RestrictedTo(scan.Measured)) + " AS r"
	err = m.Conn.Query(ctx, duck.Statement{SQL: "SELECT DISTINCT " + scan.NamesOf("r", names) + " FROM " + rows, Args: s.Sel.Args}, func(row []driver.Value) error {
		run := map[string]string{}
		for i, v := range row {
			facts.Add(run, names[i], duck.Plain(v))
		}
		found.add(run)
		return nil
	})
	if err != nil {
		return err
	}
	entries := func(column string) string {
		return "SELECT '" + column + ".' || e.key AS name, e.value AS value FROM (SELECT unnest(map_entries(r." + column + ")) AS e FROM " + rows + ")"
	}
	text := "SELECT DISTINCT name, value FROM (" + entries("env") + " UNION ALL " + entries("applied") + ")"
	return m.Conn.Query(ctx, duck.Statement{SQL: text, Args: s.Sel.Args}, func(row []driver.Value) error {
		found.add(map[string]string{duck.Text(row[0]): duck.Text(row[1])})
		return nil
	})
}
