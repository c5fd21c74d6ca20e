package benchmarks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
)

// ingestBytes is how large the files are; the others are the most that storing one may take, as a ratio to its bare reader, to that of
// runs of few lines, and to SQLite, and in memory.
const (
	ingestBytes     = 200 << 20
	ingestGoal      = 1.5
	ingestGoalFew   = 3
	ingestGoalPeer  = 1
	ingestMegabytes = 500
)

// onlyLines is the bare reader of Go benchmarks.
const onlyLines = "benchfmt reading the lines, which makes no runs"

// BenchmarkIngest stores large files of other tools, by turns with a bare reader of the same bytes: encoding/json into an
// any, and benchfmt, which makes no runs. Go benchmarks go into SQLite, too: see importSQLite. What a run takes counts less where
// it has more lines: count is how many each benchmark of the Go text has.
func BenchmarkIngest(b *testing.B) {
	neurolens := program(b)
	self, err := os.Executable()
	must(b, err)
	for _, c := range []struct {
		name    string
		text    func() []byte
		against string
		bare    func(*os.File) error
		goal    float64
	}{
		{"pytest", func() []byte { return pytestJSON(ingestBytes) }, "encoding/json into an any", decodeAny, ingestGoal},
		{"go, 10 lines each", func() []byte { return goText(ingestBytes, 10) }, onlyLines, scanBenchmarks, ingestGoalFew},
		{"go, 100 lines each", func() []byte { return goText(ingestBytes, 100) }, onlyLines, scanBenchmarks, ingestGoal},
		{"go, 1000 lines each", func() []byte { return goText(ingestBytes, 1000) }, onlyLines, scanBenchmarks, ingestGoal},
	} {
		b.Run(c.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "input")
			must(b, os.WriteFile(file, c.text(), 0o644))
			var ours, bare, peer series
			for i := range 3 {
				bare.add(measured{Wall: timed(b, file, c.bare)})
				store := filepath.Join(b.TempDir(), fmt.Sprintf("store%d", i))
				ours.add(start(b, "NEUROLENS_FORMAT=", neurolens, "ingest", file, "--store", store))
				if c.against == onlyLines {
					peer.add(start(b, importRole+"=1", self, file, store+".db"))
				}
			}
			report(b, c.against, turns("ingest", &ours, &bare).within(c.goal, ingestMegabytes))
			if c.against == onlyLines {
				report(b, "benchfmt into SQLite, the same columns in one transaction", turns("beside SQLite", &ours, &peer).within(ingestGoalPeer, 0))
			}
		})
	}
}

func timed(tb testing.TB, file string, read func(*os.File) error) time.Duration {
	tb.Helper()
	began := time.Now()
	f, err := os.Open(file)
	must(tb, err)
	defer f.Close()
	must(tb, read(f))
	return time.Since(began)
}

func decodeAny(f *os.File) error {
	var v any
	return json.NewDecoder(f).Decode(&v)
}

func scanBenchmarks(f *os.File) error {
	r := benchfmt.NewReader(f, f.Name())
	for r.Scan() {
		if err, ok := r.Result().(*benchfmt.SyntaxError); ok {
			return err
		}
	}
	return r.Err()
}
