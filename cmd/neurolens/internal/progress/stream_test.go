package progress

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/schema"
)

// TestStreamManyReused: a session may count more runs of earlier sessions than a filter has room for. A stream without runs has columns.
func TestStreamManyReused(t *testing.T) {
	dir := t.TempDir() + "/runs_store"
	ok(t, ingest.Init(dir))
	var remarks []string
	db, err := query.Open(t.Context(), []string{dir}, query.Options{Remark: func(line string) { remarks = append(remarks, line) }})
	ok(t, err)
	defer db.Close()
	reused := make([]runner.Planned, 2600)
	for i := range reused {
		reused[i].Done = &schema.Run{RunID: schema.ULIDFrom(time.Unix(int64(i), 0), [10]byte{}).String()}
	}
	for _, launches := range [][]runner.Planned{nil, reused} {
		t.Run(fmt.Sprint(len(launches)), func(t *testing.T) {
			s := Summary{Result: runner.Result{Session: schema.ULIDFrom(time.Unix(1e9, 0), [10]byte{}).String(), Plan: runner.Plan{Launches: launches}}}
			var out bytes.Buffer
			ok(t, s.Stream(t.Context(), db, &out))
			stream, err := ipc.NewReader(&out)
			ok(t, err)
			defer stream.Release()
			if stream.Next() || stream.Schema().NumFields() == 0 || len(remarks) > 0 {
				t.Errorf("%d columns, remarks %q", stream.Schema().NumFields(), remarks)
			}
		})
	}
}
