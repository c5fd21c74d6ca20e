package scan

import (
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/direct"
	"github.com/neurolens/neurolens/schema"
)

// directFiles is the number of files up to which they are read without DuckDB, if they have few runs each. directRuns is the number of runs of
// a file that take about as long to read as its footer.
const (
	directFiles = 1024
	directRuns  = 32
)

// direct reads columns, including run_id, of the runs with these ids without DuckDB, if they are in few small files; ids nil: of all runs. If it
// is not ok, DuckDB has to read them, and says what is wrong, if anything is.
func (s *Sources) direct(ids []schema.ULID, columns []*schema.Column) (t answer.Table, ok bool) {
	lists := [][]file{s.Live, s.sealed}
	if len(s.sealed) == 0 {
		lists[1] = s.Read // of Parts
	}
	if n := len(s.Live) + len(lists[1]); n > directFiles || s.noTags != "" || len(s.doubled) > 0 {
		return answer.Table{}, false
	}
	var files []direct.File
	runs := 0
	for _, list := range lists {
		for i := range list {
			f := &list[i]
			files = append(files, direct.File{
				Store: schema.Dir(s.Stores[f.store].path), Name: s.name(f), Run: f.live.Run, Rows: f.sealed.Rows, Live: f.zone == "",
			})
			runs += max(f.sealed.Rows, 1)
		}
	}
	if runs > newestRuns+directRuns*len(files) {
		return answer.Table{}, false
	}
	t, err := direct.Rows(files, ids, columns, s.Said)
	return t, err == nil
}
