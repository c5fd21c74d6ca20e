package scan

import (
	"errors"
	"fmt"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/direct"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// directFiles is the number of files up to which they are read without DuckDB, if they have few runs each. directRuns is the number of runs of
// a file that take about as long to read as its footer.
const (
	directFiles = 1024
	directRuns  = 32
)

// direct reads columns, including run_id, of the runs with these ids without DuckDB, if they are in few small files; ids nil: of all runs. If it
// is not ok, DuckDB has to read them. The error is that of a file that does not match its hash.
func (s *Sources) direct(ids []schema.ULID, columns []*schema.Column) (t answer.Table, ok bool, err error) {
	lists := [][]file{s.Live, s.sealed}
	if len(s.sealed) == 0 {
		lists[1] = s.Read // of Parts
	}
	if n := len(s.Live) + len(lists[1]); n > directFiles || s.noTags != "" || len(s.doubled) > 0 {
		return answer.Table{}, false, nil
	}
	var files []direct.File
	var stores []int // that have them
	runs := 0
	for _, list := range lists {
		for i := range list {
			f := &list[i]
			files = append(files, direct.File{
				Store: schema.Dir(s.Stores[f.store].path), Name: s.name(f), Run: f.live.Run, Rows: f.sealed.Rows, Live: f.zone == "",
			})
			stores, runs = append(stores, f.store), runs+max(f.sealed.Rows, 1)
		}
	}
	if runs > newestRuns+directRuns*len(files) {
		return answer.Table{}, false, nil
	}
	t, err = direct.Rows(files, ids, columns, s.Said)
	if damaged, is := errors.AsType[*direct.DamagedError](err); is {
		return answer.Table{}, false, fault.Store(s.Stores[stores[damaged.File]].dir, fmt.Errorf("%s: %w", files[damaged.File].Name, err))
	}
	return t, err == nil, nil
}
