package formats

import (
	"strings"
	"testing"
)

func TestNCUNumber(t *testing.T) {
	for text, want := range map[string]string{
		"12": "12", "1,234,567": "1234567", "1,234.5": "1234.5", "1.234,5": "1234.5", "12,5": "12.5", "0.74": "0.74", "-3": "-3", "nan": "nan",
		"508,757": "508757", "1.234.567,0": "1234567.0", "9007199254740993": "9007199254740993",
	} {
		if got, ok := ncuNumber(text); !ok || string(got) != want {
			t.Errorf("%s: %s %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "PolicySpread", "(1, 2, 3)", "1 234", "0x10p"} {
		if got, ok := ncuNumber(text); ok {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

// TestNCUProcesses: launches of two processes are two runs of one point, and a row that does not fit is refused.
func TestNCUProcesses(t *testing.T) {
	const header = `"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value"` + "\n"
	row := func(id, pid, value string) string {
		return `"` + id + `","` + pid + `","app","lab3","axpy","1","7","SOL","Duration","usecond","` + value + `"` + "\n"
	}
	text := header + row("0", "1", "10") + row("1", "1", "11") + "==PROF== Disconnected\n" + header + row("0", "2", "20") + `"0","2"` + "\n" +
		strings.Repeat(`"x",`, 20) + "\n" + `"an open text` + "\n"
	report, runs, err := readTrace(t, "ncu.csv", []byte(text))
	if err != nil || len(runs) != 2 || report.Refused != 2 {
		t.Fatalf("%d runs, refused %v, %v", len(runs), report.Refusals, err)
	}
	if runs[0].PointID != runs[1].PointID || runs[0].RunID == runs[1].RunID {
		t.Errorf("the runs are %s and %s, of the points %s and %s", runs[0].RunID, runs[1].RunID, runs[0].PointID, runs[1].PointID)
	}
	if got := runs[0].Metric("latency").Ticks; len(got) != 2 || got[1] != 11000 {
		t.Errorf("latencies are %v", got)
	}
}
