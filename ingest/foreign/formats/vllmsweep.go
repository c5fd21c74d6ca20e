package formats

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// vllmSweepTable reads the table of all runs that a sweep writes at its end.
func vllmSweepTable() foreign.Format {
	return foreign.Format{
		Name:  "vllm-sweep-csv",
		About: "vLLM: the summary.csv of vllm bench sweep; ignored if the folders of its runs are next to it",
		Level: "a run is a row, one benchmark of a server; only aggregates, no samples",
		Recognize: func(h *foreign.Head) bool {
			names := strings.Split(h.FirstLine(), ",")
			return slices.Contains(names, "model_id") && slices.Contains(names, "request_throughput") && slices.Contains(names, "run_number")
		},
		Read: readVLLMSweep,
	}
}

// sweepFolders are the results in folders next to the table, one of each.
func sweepFolders(in *foreign.Input) (results []string) {
	if in.Folder == nil {
		return nil
	}
	entries, err := fs.ReadDir(in.Folder, path.Dir(in.Path))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if name := beside(in, e.Name()+"/summary.json", e.Name()+"/run=0.json"); e.IsDir() && name != "" {
			results = append(results, name)
		}
	}
	return results
}

func readVLLMSweep(in *foreign.Input, out *foreign.Output) error {
	c := in.CSV()
	var names []string
	folders := sweepFolders(in)
	for record, err := range c.Records() {
		switch {
		case err != nil:
			return err
		case names == nil || slices.Equal(names, record): // again where several tables follow one another
			names = append(names[:0], record...)
			continue
		case len(folders) > 0:
			for _, name := range folders {
				out.LeaveTo(name, "", 0)
			}
			out.LeaveOut("rows of a sweep whose folders are next to it", 1)
			continue
		}
		where := fmt.Sprintf("line %d", c.Line())
		if len(record) != len(names) {
			out.Refuse(where, fmt.Errorf("%d fields for %d columns", len(record), len(names)))
			continue
		}
		s := &served{}
		for i, name := range names {
			s.addCell(name, record[i])
		}
		if err := s.emitVLLM(in, out, where); err != nil {
			return err
		}
	}
	return nil
}

// addCell takes a cell of a table as the value that JSON would have had: empty cells are null.
func (s *served) addCell(name, text string) {
	switch n := csvNumber(text); {
	case name == "" || text == "": // the first column counts the rows
	case name == "request_rate" || n.Float64() == nil:
		kind := jsontext.Kind(jsontext.KindString)
		if text == "True" || text == "False" {
			kind, text = jsontext.KindTrue, strings.ToLower(text)
		}
		s.scalars = append(s.scalars, scalar{name, kind, foreign.Text(foreign.Canonical(text))})
	default:
		s.scalars = append(s.scalars, scalar{name, jsontext.KindNumber, foreign.Text(foreign.Canonical(string(n)))})
	}
}

// emitVLLM yields the run of a result of vllm bench serve.
func (s *served) emitVLLM(in *foreign.Input, out *foreign.Output, where string) error {
	r := schema.Run{Benchmark: "vllm/serve"}
	s.vllmPoint(&r, out)
	if started, source, err := in.Time(s.get("date"), "20060102-150405"); err == nil {
		foreign.SetStart(&r, started, source)
	}
	s.addResults(&r, out)
	requests := s.whole()
	return out.RunWith(where, r, func(r *schema.Run) {
		requests.add(r)
		s.setStart(r)
	})
}

// The members that say when a benchmark began and ended, in Unix seconds, since 2026.
const (
	servedBegan = "benchmark_start_time_unix"
	servedEnded = "benchmark_end_time_unix"
)

// setStart sets when the benchmark began. The date, which the run has as its start so far, is that of the end.
func (s *served) setStart(r *schema.Run) {
	for _, name := range []string{servedBegan, servedEnded} { // where members are sorted, earlier versions took them for parameters
		delete(r.Params, name)
	}
	if began := s.number(servedBegan).Float64(); began != nil && *began > 0 && *began < 1e10 {
		foreign.SetStart(r, time.UnixMicro(int64(math.Round(*began*1e6))), schema.TimeFile)
		return
	}
	if took := s.number("duration").Finite("s"); took != nil && *took > 0 && *took < float64(math.MaxInt64) && !r.StartedAt.IsZero() {
		foreign.SetStart(r, r.StartedAt.Add(-time.Duration(*took)), r.TimeSource)
	}
}
