package compare

import (
	"cmp"
	"context"
	"database/sql/driver"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Stratum describes the runs with the same session, machine, commit, benchmark, backend, side, status and kind of metric.
type Stratum struct {
	Session, machine, commit string
	Benchmark, Backend, side string
	status                   string
	metric                   metricKind
	runs, dirty, imported    int
	FirstRun, lastRun        string
	since, until             int64 // Unix microseconds; 0: unknown
	warned                   bool  // some run has a warning
	noLog                    bool  // some run has no log_median
}

// strataColumns are the columns by which stratify groups. Metrics other than the primary one are read later.
var strataColumns = []string{"session_id", "machine", "git_commit", "benchmark", "backend", "side", "status", "metric", "unit", "better", "clock", "level"}

// stratify reads the strata of a side, and leaves out files without runs of it.
func (s *selectedSide) stratify(ctx context.Context, r *scan.Reader) error {
	columns, err := scan.RunColumns(append([]string{"run_id", "started_at", "warnings", "purpose", "log_median", "git_dirty", "source"}, strataColumns...))
	if err != nil {
		return err
	}
	text := "SELECT " + scan.ColumnNamesOf("r", strataColumns) + `, count(*), min(run_id) AS first_run, max(run_id), epoch_us(min(started_at)), epoch_us(max(started_at)),
	coalesce(bool_or(len(warnings) > 0), false), bool_or(log_median IS NULL), count(*) FILTER (git_dirty), count(*) FILTER (source <> ` + duck.Literal(schema.SourceNeuroLens) + `)
FROM ` + s.Sel.Src.Scan(scan.WithColumns(columns, s.Sel.Columns), s.Sel.RestrictedTo(scan.IsMeasurement)) + " AS r GROUP BY ALL ORDER BY first_run"
	err = r.Conn.Query(ctx, duck.Statement{SQL: text, Args: s.Sel.Args}, func(row []driver.Value) error {
		var t Stratum
		for i, field := range []*string{
			&t.Session, &t.machine, &t.commit, &t.Benchmark, &t.Backend, &t.side, &t.status, &t.metric.Name, &t.metric.Unit, &t.metric.Better, &t.metric.Clock, &t.metric.Level,
		} {
			*field = duck.Text(row[i])
		}
		row = row[len(strataColumns):]
		t.runs, t.FirstRun, t.lastRun, t.since, t.until = int(duck.Integer(row[0])), duck.Text(row[1]), duck.Text(row[2]), duck.Integer(row[3]), duck.Integer(row[4])
		t.warned, t.noLog, t.dirty, t.imported = row[5] == true, row[6] == true, int(duck.Integer(row[7])), int(duck.Integer(row[8]))
		s.add(t)
		return nil
	})
	if err == nil {
		err = s.narrow()
	}
	for _, list := range []*[]string{&s.Sessions, &s.Machines, &s.Commits} {
		slices.Sort(*list)
		*list = slices.DeleteFunc(slices.Compact(*list), func(text string) bool { return text == "" })
	}
	return err
}

// narrow makes Sel read only the files of the time of the side's runs. If values that are not numbers have to be counted, also those of runs
// that do not match, all files stay.
func (s *selectedSide) narrow() error {
	if len(s.Strata) == 0 || len(s.Sel.NotNumbers) > 0 {
		return nil
	}
	last := slices.MaxFunc(s.Strata, func(a, b Stratum) int { return cmp.Compare(a.lastRun, b.lastRun) })
	ids, err := scan.AppendID(nil, s.Strata[0].FirstRun)
	if err == nil {
		ids, err = scan.AppendID(ids, last.lastRun)
	}
	if err == nil {
		s.Sel.Src = s.Sel.Src.Within(scan.Period{Since: ids[0].Time().UnixMilli(), Until: ids[1].Time().UnixMilli() + 1})
	}
	return err
}

// add adds a stratum.
func (s *selectedSide) add(t Stratum) {
	s.Strata = append(s.Strata, t)
	s.Runs, s.Dirty, s.Imported = s.Runs+t.runs, s.Dirty+t.dirty, s.Imported+t.imported
	s.Sessions, s.Machines, s.Commits = append(s.Sessions, t.Session), append(s.Machines, t.machine), append(s.Commits, t.commit)
	if t.Session == "" {
		s.NoSession += t.runs
	}
	if t.machine == "" {
		s.NoMachine += t.runs
	}
	if t.commit == "" {
		s.NoCommit += t.runs
	}
	if t.since > 0 && (s.Since == 0 || t.since < s.Since) {
		s.Since = t.since
	}
	s.Until = max(s.Until, t.until)
	if t.status == string(schema.StatusOK) && !slices.Contains(s.Kinds, t.metric) {
		s.Kinds = append(s.Kinds, t.metric)
	}
}
