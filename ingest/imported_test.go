package ingest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestImported: of the runs of several sealed files each is found, with its session and by what its id has behind the time,
// and no other one.
func TestImported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/s"
	valuetest.OK(t, ingest.Init(dir))
	store := valuetest.Must(ingest.Open(dir, "test"))
	defer store.Close()
	var all []schema.Run
	for file := range 3 {
		var some []schema.Run
		for i := range 20 {
			r := runtest.Small()
			at := time.Date(2026, time.Month(1+file), 1, 0, i, 0, 0, time.UTC)
			if i%2 == 0 {
				at = time.Time{}
				r.TimeSource = ""
			}
			r.StartedAt = at
			r.RunID = schema.ULIDFrom(at, [10]byte{byte(i / 4), 0, 0, 0, 0, byte(file), byte(i)}).String()
			r.SessionID = schema.ULIDFrom(at, [10]byte{9, byte(i)}).String()
			some = append(some, r)
		}
		valuetest.Must(store.AppendAll(runtest.Each(some...)))
		all = append(all, some...)
	}
	imported := store.Imported()
	for _, r := range all {
		id := valuetest.Must(schema.ParseULID(r.RunID))
		there, err := imported.Has(id)
		run, samples, runErr := imported.Run(id)
		if !there || err != nil || run.SessionID != r.SessionID || run.PointID != r.PointID || samples == 0 || runErr != nil {
			t.Fatalf("%s: %v %v, %+v, %d samples, %v", id, there, err, run, samples, runErr)
		}
		id[15]++
		if there, err := imported.Has(id); there || err != nil {
			t.Fatalf("%s, which is not there: %v %v", id, there, err)
		}
	}
	for begin := range 6 {
		found, err := imported.After([5]byte{byte(begin)})
		if want := map[bool]int{true: 12}[begin < 5]; len(found) != want || err != nil {
			t.Errorf("%d: %s, %v", begin, fmt.Sprint(found), err)
		}
	}
}
