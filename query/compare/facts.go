package compare

import (
	"context"
	"database/sql/driver"
	"maps"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
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

// add adds the facts of a run.
func (f sideFacts) add(run map[string]string) {
	for name, value := range run {
		if f[name] == nil {
			f[name] = map[string]bool{}
		}
		f[name][value] = true
	}
}

// differences returns the facts in which two sides differ. A fact that is unknown on a side with only imported runs is not a difference.
func (f sideFacts) differences(head sideFacts, of, as *selectedSide) []query.FactDifference {
	var all []query.FactDifference
	names := slices.AppendSeq(slices.Collect(maps.Keys(f)), maps.Keys(head))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		base, other := slices.Sorted(maps.Keys(f[name])), slices.Sorted(maps.Keys(head[name]))
		unknown := len(base) == 0 && of.Imported == of.Runs || len(other) == 0 && as.Imported == as.Runs
		if !unknown && !slices.Equal(base, other) {
			all = append(all, query.FactDifference{Kind: query.FactKindOf(name), Name: name, Base: base, Head: other})
		}
	}
	return all
}

// facts reads the facts of the side, and sets FactRuns.
func (s *selectedSide) facts(ctx context.Context) (sideFacts, error) {
	found := sideFacts{}
	if s.Runs <= maxFactRuns {
		s.FactRuns = s.Runs
		return found, s.allFacts(ctx, found)
	}
	var ids []schema.ULID
	for _, t := range s.strata[max(len(s.strata)-maxStrata, 0):] {
		id, err := schema.ParseULID(t.firstRun)
		if err != nil {
			return nil, &duck.Error{Message: err.Error(), Kind: duckdb.ErrorTypeIO}
		}
		ids = append(ids, id)
	}
	s.FactRuns = len(ids)
	known, err := query.Facts(ctx, s.Reader, ids)
	for _, run := range known {
		found.add(run)
	}
	return found, err
}

// allFacts adds the facts of every run of the side. DuckDB finds the different values.
func (s *selectedSide) allFacts(ctx context.Context, found sideFacts) error {
	names := query.FactColumns()
	columns, err := scan.RunColumns(append(names[:len(names):len(names)], "env", "applied", "purpose"))
	if err != nil {
		return err
	}
	rows := s.sel.Src.Scan(scan.WithColumns(columns, s.sel.Columns), s.sel.RestrictedTo(s.purpose)) + " AS r"
	err = s.Conn.Query(ctx, duck.Statement{SQL: "SELECT DISTINCT " + scan.ColumnNamesOf("r", names) + " FROM " + rows, Args: s.sel.Args}, func(row []driver.Value) error {
		run := map[string]string{}
		for i, v := range row {
			query.AddFact(run, names[i], duck.Plain(v))
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
	return s.Conn.Query(ctx, duck.Statement{SQL: text, Args: s.sel.Args}, func(row []driver.Value) error {
		found.add(map[string]string{duck.Text(row[0]): duck.Text(row[1])})
		return nil
	})
}

// pointFacts are the settings that a sweep gives to one of its points.
type pointFacts struct {
	thresholds map[string]string // by the name of the fact, if all runs that have the fact have the same value
	control    bool              // a run is marked as a control
	printed    bool              // a run is a result that a program printed
}

// pointFacts reads the settings of the points of the side, by id; nil if the facts of the side have no settings. If there are very many
// runs, settings are only found if a run whose facts were read has them.
func (s *selectedSide) pointFacts(ctx context.Context, known sideFacts) (map[string]pointFacts, error) {
	var names []string
	for name := range known {
		if fact, ok := strings.CutPrefix(name, "env."); ok && strings.HasPrefix(fact, schema.FactThreshold) {
			names = append(names, fact)
		}
	}
	slices.Sort(names)
	if len(names) == 0 && known["env."+schema.FactControl] == nil && known["env."+schema.FactRead] == nil {
		return nil, nil
	}
	columns, err := scan.RunColumns([]string{"point_id", "env", "purpose"})
	if err != nil {
		return nil, err
	}
	text := "SELECT point_id, coalesce(bool_or(env[" + duck.Literal(schema.FactControl) + "] = 'true'), false), count(env[" + duck.Literal(schema.FactRead) + "]) > 0"
	for _, name := range names {
		entry := "env[" + duck.Literal(name) + "]"
		text += ", CASE WHEN min(" + entry + ") = max(" + entry + ") THEN min(" + entry + ") END"
	}
	text += " FROM " + s.sel.Src.Scan(scan.WithColumns(columns, s.sel.Columns), s.sel.RestrictedTo(s.purpose)) + " GROUP BY point_id"
	found := map[string]pointFacts{}
	return found, s.Conn.Query(ctx, duck.Statement{SQL: text, Args: s.sel.Args}, func(row []driver.Value) error {
		facts := pointFacts{thresholds: map[string]string{}, control: row[1] == true, printed: row[2] == true}
		for i, name := range names {
			if value := duck.Text(row[3+i]); value != "" {
				facts.thresholds[name] = value
			}
		}
		found[duck.Text(row[0])] = facts
		return nil
	})
}

// setSessionThresholds sets the thresholds of the points of one session whose runs are in memory.
func setSessionThresholds(points []*pairing, runs []schema.Run) {
	found := map[string]sideFacts{}
	for i := range runs {
		r := &runs[i]
		if r.Side != "head" {
			continue
		}
		if found[r.PointID] == nil {
			found[r.PointID] = sideFacts{}
		}
		for name, value := range r.Env.Facts {
			if strings.HasPrefix(name, schema.FactThreshold) {
				found[r.PointID].add(map[string]string{name: value})
			}
		}
	}
	sets := judge.ThresholdCombiner{}
	for _, p := range points {
		one := map[string]string{}
		for name, values := range found[p.either().PointID] {
			if all := slices.Collect(maps.Keys(values)); len(all) == 1 {
				one[name] = all[0]
			}
		}
		p.thresholds = sets.Of(one)
	}
}

// shared returns the threshold of the metric if all points have the same one.
func (f *family) shared() (all judge.Threshold, ok bool) {
	for i, p := range f.points {
		if t := p.thresholds.For(f.metric); i == 0 {
			all = t
		} else if p.head != nil && t != all {
			return judge.Threshold{}, false
		}
	}
	return all, true
}
