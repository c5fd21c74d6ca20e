package scan

import (
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/direct"
	"github.com/neurolens/neurolens/schema"
)

// directRuns is the number of runs up to which they are read without DuckDB.
const directRuns = 1024

// direct reads columns, of which one is run_id, of all runs of the sources without DuckDB, if they are in few files. Where that fails, DuckDB
// reads them, and says what is wrong.
func (s *Sources) direct(columns []*schema.Column) (t answer.Table, ok bool) {
	if s.noTags != "" || len(s.doubled) > 0 {
		return answer.Table{}, false
	}
	var files []direct.File
	runs := 0
	for _, list := range [][]file{s.Live, s.Read} {
		for i := range list {
			f := &list[i]
			files = append(files, direct.File{
				Store: schema.Dir(s.Stores[f.store].path), Name: s.name(f), Run: f.live.Run, Rows: f.sealed.Rows, Live: f.zone == "",
			})
			runs += max(f.sealed.Rows, 1)
		}
	}
	if len(files) > fewFiles || runs > directRuns {
		return answer.Table{}, false
	}
	t, err := direct.Rows(files, columns, s.Said)
	return t, err == nil
}
