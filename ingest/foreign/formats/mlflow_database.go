package formats

import (
	"fmt"
	"math"
	"strconv"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// mlflowSchema has the tables of MLflow that are read, with their columns.
var mlflowSchema = []struct {
	table   string
	columns []string
}{
	{"runs", []string{"run_uuid", "experiment_id", "status", "start_time", "end_time", "lifecycle_stage"}},
	{"experiments", []string{"experiment_id", "name"}},
	{"metrics", []string{"run_uuid", "key", "value", "timestamp"}},
	{"params", []string{"run_uuid", "key", "value"}},
	{"tags", []string{"run_uuid", "key", "value"}},
}

// readMLflowDatabase reads the runs of a database in the order in which they ended, so that later ones come behind those that were read before.
func readMLflowDatabase(in *foreign.Input, out *foreign.Output) error {
	db, err := openDatabase(in)
	if err != nil {
		return err
	}
	defer db.close()
	for _, t := range mlflowSchema {
		if !db.has(t.table, t.columns...) {
			return fmt.Errorf("the table %s of MLflow is missing, or has other columns", t.table)
		}
	}
	params, err := db.mlflowTexts("params")
	if err != nil {
		return err
	}
	tags, err := db.mlflowTexts("tags")
	if err != nil {
		return err
	}
	var run *mlflowRun
	yield := func() error {
		if run == nil {
			return nil
		}
		return run.yield(out)
	}
	err = db.each(fmt.Sprintf(`SELECT CAST(r.run_uuid AS BLOB), CAST(e.name AS BLOB), CAST(r.status AS BLOB), CAST(r.lifecycle_stage AS BLOB),
		CAST(r.start_time AS BLOB), CAST(m.key AS BLOB), CAST(m.timestamp AS INTEGER), CAST(m.%s AS INTEGER), CAST(m.value AS REAL), CAST(m.%s AS INTEGER)
		FROM runs r LEFT JOIN experiments e USING (experiment_id) LEFT JOIN metrics m ON m.run_uuid = r.run_uuid
		ORDER BY r.end_time, r.run_uuid, m.key, m.timestamp, m.%[1]s, m.value`, db.first("metrics", "step"), db.first("metrics", "is_nan")), func(row []any) error {
		if id := text(row[0]); run == nil || run.id != id {
			if err := yield(); err != nil {
				return err
			}
			run = &mlflowRun{
				id: id, experiment: text(row[1]), status: text(row[2]), stage: text(row[3]), start: foreign.Number(text(row[4])), params: params[id], tags: tags[id],
			}
		}
		if row[5] != nil {
			run.add(text(row[5]), mlflowValueOf(row[6:]))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return yield()
}

// mlflowValueOf returns a value of a row with its time, step, number and whether it is NaN.
func mlflowValueOf(row []any) (v mlflowValue) {
	v.at, _ = row[0].(int64)
	v.step, _ = row[1].(int64)
	value, _ := row[2].(float64)
	if math.Abs(value) == math.MaxFloat64 { // MLflow writes it for an infinity, which some databases lack
		value *= 2
	}
	v.value = foreign.Number(strconv.FormatFloat(value, 'g', -1, 64))
	if nan, _ := row[3].(int64); nan != 0 {
		v.value = "NaN"
	}
	return v
}

// mlflowTexts returns the params or tags of each run, in the order of their names.
func (d *database) mlflowTexts(table string) (map[string][]param, error) {
	texts := map[string][]param{}
	return texts, d.each("SELECT CAST(run_uuid AS BLOB), CAST(key AS BLOB), CAST(value AS BLOB) FROM "+table+" ORDER BY run_uuid, key", func(row []any) error {
		run := text(row[0])
		texts[run] = append(texts[run], param{text(row[1]), text(row[2])})
		return nil
	})
}
