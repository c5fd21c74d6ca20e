package query

import (
	"context"
	"database/sql/driver"
	"maps"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Difference is a fact in which the sides of a comparison differ.
type Difference struct {
	Kind DifferenceKind
	// Name is that of the column of runs, or env.NAME or applied.NAME.
	Name string
	// Base and Head are the values of each side in ascending order; none where it is not known.
	Base, Head []string
}

// DifferenceKind says what a difference is about.
type DifferenceKind string

// The kinds, in the order in which they matter: a difference in hardware leaves no verdict about the code.
const (
	DiffersHardware      DifferenceKind = "hardware"
	DiffersCode          DifferenceKind = "code"
	DiffersConfiguration DifferenceKind = "configuration"
	DiffersEnvironment   DifferenceKind = "environment"
)

// differenceKinds are the kinds in their order.
var differenceKinds = []DifferenceKind{DiffersHardware, DiffersCode, DiffersConfiguration, DiffersEnvironment}

// comparedFact is a column of runs that says something about a kind of difference.
type comparedFact struct {
	kind DifferenceKind
	name string
}

// comparedFacts are the columns of runs, besides the maps, in which sides may differ.
var comparedFacts = []comparedFact{
	{DiffersHardware, "machine"},
	{DiffersHardware, "host_id"},
	{DiffersHardware, "cpu_model"},
	{DiffersHardware, "cpu_count"},
	{DiffersHardware, "memory_bytes"},
	{DiffersHardware, "gpu_name"},
	{DiffersHardware, "gpu_count"},
	{DiffersCode, "git_commit"},
	{DiffersCode, "git_dirty"},
	{DiffersCode, "model_sha256"},
	{DiffersCode, "backend_version"},
	{DiffersConfiguration, "executor"},
	{DiffersEnvironment, "hostname"},
	{DiffersEnvironment, "os"},
	{DiffersEnvironment, "os_kernel"},
	{DiffersEnvironment, "driver_version"},
	{DiffersEnvironment, "cuda_version"},
	{DiffersEnvironment, "python_version"},
}

// Facts are read of all runs of a side, unless there are more than mostFactRuns: then of the first run of each benchmark
// and backend of the newest sessions, mostStrata of them.
const (
	mostFactRuns = 5000
	mostStrata   = 500
)

// facts are the values of each fact on a side.
type facts map[string]map[string]bool

// thresholds adds those that sweeps gave to those that are given. Of two of one metric neither counts.
func (f facts) thresholds(given map[string]Threshold) map[string]Threshold {
	all := maps.Clone(given)
	if all == nil {
		all = map[string]Threshold{}
	}
	_, general := given[""]
	for name, values := range f {
		metric, ok := strings.CutPrefix(name, "env."+ThresholdFact)
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
func differences(base, head facts) []Difference {
	names := map[string]bool{}
	for name := range base {
		names[name] = true
	}
	for name := range head {
		names[name] = true
	}
	var all []Difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		of, as := slices.Sorted(maps.Keys(base[name])), slices.Sorted(maps.Keys(head[name]))
		if !slices.Equal(of, as) {
			all = append(all, Difference{kindOfFact(name), name, of, as})
		}
	}
	return all
}

// rankOf orders differences: by kind, columns in their order before what is in maps.
func rankOf(d Difference) int {
	if slices.Contains(identityFields, d.Name) {
		return slices.Index(differenceKinds, d.Kind) * (len(comparedFacts) + 1)
	}
	place := slices.IndexFunc(comparedFacts, func(f comparedFact) bool { return f.name == d.Name })
	if place < 0 {
		place = len(comparedFacts)
	}
	return slices.Index(differenceKinds, d.Kind)*(len(comparedFacts)+1) + place
}

// kindOfFact is the kind of a difference in a fact.
func kindOfFact(name string) DifferenceKind {
	for _, f := range comparedFacts {
		if f.name == name {
			return f.kind
		}
	}
	switch {
	case strings.Contains(name, "sha256"), strings.HasPrefix(name, "env.git."), strings.HasPrefix(name, "env.python.installed."):
		return DiffersCode
	case strings.HasPrefix(name, "applied."), strings.HasPrefix(name, "env.runner."):
		return DiffersConfiguration
	case strings.HasPrefix(name, "env.cpu."), strings.HasPrefix(name, "env.gpu."), strings.HasPrefix(name, "env.memory."):
		return DiffersHardware
	}
	return DiffersEnvironment
}

// add adds those of a run.
func (f facts) add(run map[string]string) {
	for name, value := range run {
		if f[name] == nil {
			f[name] = map[string]bool{}
		}
		f[name][value] = true
	}
}

// facts reads those of a side.
func (m *comparing) facts(ctx context.Context, s *side) (facts, error) {
	found := facts{}
	if s.Runs <= mostFactRuns {
		s.FactRuns = s.Runs
		return found, m.allFacts(ctx, s, found)
	}
	var ids []schema.ULID
	for _, t := range s.strata[max(len(s.strata)-mostStrata, 0):] {
		id, err := schema.ParseULID(t.firstRun)
		if err != nil {
			return nil, &duck.Error{Message: err.Error(), Kind: duckdb.ErrorTypeIO}
		}
		ids = append(ids, id)
	}
	s.FactRuns = len(ids)
	known, err := factsOf(ctx, m.Reader, ids)
	for _, run := range known {
		found.add(run)
	}
	return found, err
}

// allFacts adds those of every run of a side: DuckDB finds the different ones.
func (m *comparing) allFacts(ctx context.Context, s *side, found facts) error {
	names := make([]string, len(comparedFacts))
	for i, f := range comparedFacts {
		names[i] = f.name
	}
	columns, err := scan.RunColumns(append(names[:len(names):len(names)], "env", "applied", "purpose"))
	if err != nil {
		return err
	}
	rows := s.sel.Src.Scan(scan.WithColumns(columns, s.sel.Columns), s.sel.RestrictedTo(measured)) + " AS r"
	err = m.Conn.Query(ctx, duck.Statement{SQL: "SELECT DISTINCT " + namesOf("r", names) + " FROM " + rows, Args: s.sel.Args}, func(row []driver.Value) error {
		run := map[string]string{}
		for i, v := range row {
			addFact(run, names[i], duck.Plain(v))
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
	return m.Conn.Query(ctx, duck.Statement{SQL: text, Args: s.sel.Args}, func(row []driver.Value) error {
		found.add(map[string]string{duck.Text(row[0]): duck.Text(row[1])})
		return nil
	})
}
