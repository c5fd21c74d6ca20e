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

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// RunsSQL has one row a run.
func (s *Sources) RunsSQL() string {
	return "SELECT * FROM " + s.Scan(schema.Runs.Columns, "")
}

// SampleValues is the SQL of the samples of a row of samples in the unit.
const SampleValues = "CASE WHEN ticks IS NOT NULL THEN list_transform(ticks, lambda t: t * tick) ELSE reals END"

// SamplesSQL has one row a metric, and its samples in the unit as `values`.
func (s *Sources) SamplesSQL(where string) string {
	return "SELECT *, " + SampleValues + ` AS "values" FROM ` +
		s.Nested(schema.Samples, where)
}

// SamplesLongSQL has one row a sample of samples; i counts from 0 in the order they were taken.
func SamplesLongSQL(samples string) string {
	return `SELECT run_id, metric, unit, unnest(range(len("values"))) AS i, unnest("values") AS "value" FROM ` + samples
}

// OpsSQL has one row an operator of a profiled run, where a condition on run_id holds.
func (s *Sources) OpsSQL(where string) string {
	return "SELECT * FROM " + s.Nested(schema.Ops, where)
}

// Nested are the rows of a table that live files nest in the row of their run, and that sealed runs have in a file of
// the same name, where a condition on run_id holds.
func (s *Sources) Nested(t *schema.Table, where string) string {
	var parts []string
	if len(s.Live) > 0 {
		parts = append(parts, "SELECT "+ColumnNames(t.Columns)+" FROM (SELECT run_id, unnest("+duck.Identifier(t.Name)+", max_depth := 2) FROM ("+
			s.scanLive([]*schema.Column{schema.RunColumn("run_id"), liveColumn(t.Name)}, where)+"))")
	}
	parts = append(parts, s.scanSealed(t.Columns, s.Beside(t), where)...)
	if len(parts) == 0 {
		return "(FROM " + EmptyTable(t.Columns) + whereText(where) + ")" // which has the parameters of the statement
	}
	return "(SELECT * FROM (" + strings.Join(parts, " UNION ALL ") + ")" + s.withoutRemoved() + ")"
}

// Beside are the files of a table that have the names of sealed runs. A file that is not there holds nothing.
func (s *Sources) Beside(t *schema.Table) []file {
	files, _ := s.besideOrNot(t)
	return files
}

// besideOrNot also gives the sealed runs that have no such file.
func (s *Sources) besideOrNot(t *schema.Table) (files, without []file) {
	folders := map[string]bool{} // those that are directories, without a link on the way
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

// CheckSamples fails where the samples of sealed runs are not there though a run says what they are of.
func (r *Reader) CheckSamples(ctx context.Context) error {
	_, without := r.Src.besideOrNot(schema.Samples)
	if len(without) == 0 {
		return nil
	}
	for _, f := range without {
		one := &Sources{Stores: r.Src.Stores, Read: []file{f}}
		expected := 0 // runs that say what their samples are of, and of which nobody says that they are lost
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
			return fault.Store(st.dir, fmt.Errorf("%w: %s is missing, but the file of its runs exists", schema.ErrDamaged, f.sealed.Path(schema.SamplesDir)))
		}
	}
	return nil
}
