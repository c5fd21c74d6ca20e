package formats

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestTrainingLog: a log of MLPerf Training is not one of LoadGen. It is refused by its name, also where --from says mlperf.
func TestTrainingLog(t *testing.T) {
	t.Parallel()
	const log = `:::MLLOG {"namespace": "", "time_ms": 1700000000000, "event_type": "INTERVAL_START", "key": "run_start", "value": null, "metadata": {}}
:::MLLOG {"namespace": "", "time_ms": 1700000900000, "event_type": "INTERVAL_END", "key": "run_stop", "value": null, "metadata": {"status": "success"}}
`
	for _, text := range []string{log, "epoch 1\n" + log, strings.ReplaceAll(log, `"": "`, `"":"`)} {
		files := fstest.MapFS{"result_0.txt": {Data: []byte(text)}}
		format, _, runs, err := One(All(), files, "result_0.txt")
		if format != nil || len(runs) > 0 || err == nil || !strings.Contains(err.Error(), "MLPerf Training") {
			t.Errorf("%v, %d runs, %v", format, len(runs), err)
		}
		report, _, err := Read(Input(t, "result_0.txt", text), loadgenFormats[1])
		if report.Runs > 0 || report.Refused != 1 {
			t.Errorf("%+v %v", report, err)
		}
	}
}
