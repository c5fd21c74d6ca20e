package query

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

// The views' texts.

func (s *sources) runsSQL() string {
	return "SELECT * FROM " + s.scan(schema.Runs.Columns, "")
}

// sampleValues is the SQL of the samples of a row of samples in the unit.
const sampleValues = "CASE WHEN ticks IS NOT NULL THEN list_transform(ticks, lambda t: t * tick) ELSE reals END"

// samplesSQL has one row a metric, and its samples in the unit as `values`.
func (s *sources) samplesSQL(where string) string {
	return "SELECT *, " + sampleValues + ` AS "values" FROM ` +
		s.nested(schema.Samples, where)
}

// samplesLongSQL has one row a sample of samples; i counts from 0 in the order they were taken.
func samplesLongSQL(samples string) string {
	return `SELECT run_id, metric, unit, unnest(range(len("values"))) AS i, unnest("values") AS "value" FROM ` + samples
}

func (s *sources) opsSQL(where string) string {
	return "SELECT * FROM " + s.nested(schema.Ops, where)
}

// nested are the rows of a table that live files nest in the row of their run, and that sealed runs have in a file of
// the same name, where a condition on run_id holds.
func (s *sources) nested(t *schema.Table, where string) string {
	var parts []string
	if len(s.live) > 0 {
		parts = append(parts, "SELECT "+columnNames(t.Columns)+" FROM (SELECT run_id, unnest("+duck.Identifier(t.Name)+", max_depth := 2) FROM ("+
			s.scanLive([]*schema.Column{schema.RunColumn("run_id"), liveColumn(t.Name)}, where)+"))")
	}
	parts = append(parts, s.scanSealed(t.Columns, s.beside(t), where)...)
	if len(parts) == 0 {
		return emptyTable(t.Columns)
	}
	return "(SELECT * FROM (" + strings.Join(parts, " UNION ALL ") + ")" + s.withoutRemoved() + ")"
}

// beside are the files of a table that have the names of sealed runs. A file that is not there holds nothing.
func (s *sources) beside(t *schema.Table) []file {
	files, _ := s.besideOrNot(t)
	return files
}

// besideOrNot also gives the sealed runs that have no such file.
func (s *sources) besideOrNot(t *schema.Table) (files, without []file) {
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
			_, err := schema.Dir(s.stores[f.store].path).DirPath(path.Dir(s.name(&beside)))
			plain = !errors.Is(err, schema.ErrDamaged)
			folders[folder] = plain
		}
		beside.broken = !plain || err == nil && !info.Mode().IsRegular()
		files = append(files, beside)
	}
	return files, without
}

// checkSamples fails where the samples of sealed runs are not there though a run says what they are of.
func (r *reader) checkSamples(ctx context.Context) error {
	_, without := r.src.besideOrNot(schema.Samples)
	if len(without) == 0 {
		return nil
	}
	for _, f := range without {
		one := &sources{stores: r.src.stores, read: []file{f}}
		expected := 0 // runs that say what their samples are of, and of which nobody says that they are lost
		text := "SELECT run_id FROM " + one.scan([]*schema.Column{schema.RunColumn("run_id"), schema.RunColumn("metric")}, "metric IS NOT NULL")
		err := r.conn.Query(ctx, duck.Statement{SQL: text}, func(row []driver.Value) error {
			id, _ := row[0].(string)
			if _, lost := r.src.said.Lost[id][schema.Samples.Name]; !lost {
				expected++
			}
			return nil
		})
		if err != nil {
			return err
		}
		if expected > 0 {
			st := r.src.stores[f.store]
			return fault.Store(st.dir, fmt.Errorf("%w: %s is not there, but its runs are", schema.ErrDamaged, f.sealed.Path(schema.SamplesDir)))
		}
	}
	return nil
}
