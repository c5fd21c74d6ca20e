package machine

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/schema"
)

func TestFIO(t *testing.T) { foreigntest.Golden(t, Formats(), root, "fio") }

func FuzzFIO(f *testing.F) { foreigntest.Fuzz(f, fio(), root, "fio") }

// TestFIOFailedAtOnce: a job that moved nothing before it failed has no rates of 0.
func TestFIOFailedAtOnce(t *testing.T) {
	const text = `{"fio version":"fio-3.33","jobs":[{"jobname":"z","error":25,"job options":{"rw":"trim"},
		"trim":{"io_bytes":0,"total_ios":1,"iops":0.0,"bw_bytes":0,"bw":0,"runtime":1}}]}`
	runs, report, err := read(t, fio(), text)
	if err != nil || len(runs) != 1 || runs[0].Status != schema.StatusError || len(runs[0].Metrics) > 0 {
		t.Errorf("%+v, %+v, %v", runs, report, err)
	}
}
