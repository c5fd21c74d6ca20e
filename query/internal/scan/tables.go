package scan

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// RunsSQL is a SELECT with one row per run.
func (s *Sources) RunsSQL() string {
	return "SELECT * FROM " + s.Scan(schema.Runs.Columns, "")
}

// SampleValues is the SQL of the list of samples in a row of samples, in its unit.
const SampleValues = "CASE WHEN ticks IS NOT NULL THEN list_transform(ticks, lambda t: t * tick) ELSE reals END"

// SamplesSQL is a SELECT with one row per run and metric, with the samples in `values`.
func (s *Sources) SamplesSQL(where string) string {
	return "SELECT *, " + SampleValues + ` AS "values" FROM ` +
		s.Nested(schema.Samples, where)
}

// SamplesLongSQL is a SELECT with one row per sample; i counts from 0 in the order in which they were taken.
func SamplesLongSQL(samples string) string {
	return `SELECT run_id, metric, unit, unnest(range(len("values"))) AS i, unnest("values") AS "value" FROM ` + samples
}

// OpsSQL is a SELECT with one row per operator of a profiled run, where a condition on run_id holds.
func (s *Sources) OpsSQL(where string) string {
	return "SELECT * FROM " + s.Nested(schema.Ops, where)
}

// Nested is a subquery over the rows of the table samples or ops, where a condition on run_id holds. Live files have these rows nested in
// the row of their run; sealed runs have them in a file of the same name.
func (s *Sources) Nested(t *schema.Table, where string) string {
	var parts []string
	if len(s.Live) > 0 {
		parts = append(parts, "SELECT "+ColumnNames(t.Columns)+" FROM (SELECT run_id, unnest("+duck.Identifier(t.Name)+", max_depth := 2) FROM ("+
			s.scanLive([]*schema.Column{schema.RunColumn("run_id"), liveColumn(t.Name)}, where)+"))")
	}
	parts = append(parts, s.scanSealed(t.Columns, s.Beside(t), where)...)
	if len(parts) == 0 {
		return "(FROM " + EmptyRows(t.Columns) + whereText(where) + ")" // where has the parameters of the statement
	}
	return "(SELECT * FROM (" + strings.Join(parts, " UNION ALL ") + ")" + s.removed + ")"
}

// Beside are the files of a table that belong to the sealed files of runs. A missing file has no rows.
func (s *Sources) Beside(t *schema.Table) []file {
	files, _ := s.besideOrNot(t)
	return files
}

// besideOrNot also returns the sealed files without such a file.
func (s *Sources) besideOrNot(t *schema.Table) (files, without []file) {
	folders := map[string]bool{} // whether a folder is a directory that is not reached through a link
	for _, f := range s.sealed {
		beside := f
		beside.zone = schema.TableZones[t]
		info, err := os.Lstat(s.path(&beside))
		if errors.Is(err, fs.ErrNotExist) {
			without = append(without, f)
			continue
		}
		folder := path.Dir(s.path(&beside))
		plain, known := folders[folder]
		if !known {
			_, err := schema.Dir(s.Stores[f.store].path).DirPath(path.Dir(s.name(&beside)))
			plain = !errors.Is(err, schema.ErrDamaged)
			folders[folder] = plain
		}
		beside.broken = !plain || err == nil && !info.Mode().IsRegular()
		files = append(files, beside)
	}
	return files, without
}

// CheckSamples fails if the samples of sealed runs are missing although the runs have a metric.
func (r *Reader) CheckSamples(ctx context.Context) error {
	_, without := r.Src.besideOrNot(schema.Samples)
	if len(without) == 0 {
		return nil
	}
	for _, f := range without {
		one := &Sources{Stores: r.Src.Stores, Read: []file{f}}
		expected := 0 // runs that have a metric, and whose samples are not recorded as lost
		text := "SELECT run_id FROM " + one.Scan([]*schema.Column{schema.RunColumn("run_id"), schema.RunColumn("metric")}, "metric IS NOT NULL")
		err := r.Conn.Query(ctx, duck.Statement{SQL: text}, func(row []driver.Value) error {
			id, _ := row[0].(string)
			if _, lost := r.Src.Said.Lost[id][schema.Samples.Name]; !lost {
				expected++
			}
			return nil
		})
		if err != nil {
			return err
		}
		if expected > 0 {
			st := r.Src.Stores[f.store]
			return answer.StoreError(st.dir, fmt.Errorf("%w: %s is missing, but the file of its runs exists", schema.ErrDamaged, f.sealed.Path(schema.SamplesDir)))
		}
	}
	return nil
}
