package query

import (
	"context"
	"database/sql/driver"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
)

// Census counts what is not removed from the stores.
type Census struct {
	Runs     int64
	Machines int64 // different names
	Samples  int64 // of the primary metrics
}

// Census reads the runs of the stores once, some files at a time: what DuckDB knows of a file stays in memory until the
// question is answered.
func (db *DB) Census(ctx context.Context) (Census, error) {
	columns, err := runColumns([]string{"machine", "n_samples"})
	if err != nil {
		return Census{}, err
	}
	var found Census
	err = db.ask(ctx, db.listAll, func(r *reader) error {
		found = Census{}
		machines := map[string]bool{}
		for _, part := range r.src.parts() {
			text := "SELECT machine, count(*), sum(n_samples)::BIGINT FROM " + part.scan(columns, "") + " GROUP BY machine"
			err := r.conn.Query(ctx, duck.Statement{SQL: text}, func(row []driver.Value) error {
				if machine, ok := row[0].(string); ok {
					machines[machine] = true
				}
				runs, _ := row[1].(int64)
				samples, _ := row[2].(int64)
				found.Runs, found.Samples = found.Runs+runs, found.Samples+samples
				return nil
			})
			if err != nil {
				return err
			}
		}
		found.Machines = int64(len(machines))
		return nil
	})
	return found, err
}

// partFiles are the files of a part: DuckDB keeps some kilobytes for each.
const partFiles = 2048

// parts divide the sources into some of few files each, in which each run stands once.
func (s *sources) parts() []*sources {
	var all []*sources
	add := func(live, read []file) {
		part := *s
		part.live, part.sealed, part.read = live, nil, read
		all = append(all, &part)
	}
	for live := range slices.Chunk(s.live, partFiles) {
		add(live, nil)
	}
	for read := range slices.Chunk(s.read, partFiles) {
		add(nil, read)
	}
	return all
}
