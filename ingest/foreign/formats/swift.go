package formats

import (
	"fmt"
	"path"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// swiftMNIST reads the files of run_benchmarks.sh of the Swift MNIST examples, one for each configuration, and
// report.json, which generate_report.py makes from them.
var swiftMNIST = foreign.Format{
	Name: "swift-mnist", About: "Swift MNIST scripts: benchmarks/*.json and report.json",
	Level: "a run is one training; its one sample is the whole process",
	Recognize: func(h *foreign.Head) bool {
		return h.Has("executable", "model", "backend", "metrics.training_time_seconds") ||
			h.Has("summary.total_benchmarks", "results[].model", "results[].training_time_seconds") ||
			h.Has("summary.total_benchmarks", "summary.models", "summary.backends", "results")
	},
	Read: func(in *foreign.Input, out *foreign.Output) error {
		if in.Head.Has("summary.total_benchmarks") {
			return readSwiftReport(in, out)
		}
		return readNext(in.JSON(), out, func(_ string, f *swiftFile) error {
			r := schema.Run{Benchmark: f.Executable}
			for name, text := range f.Config {
				setSwift(&r, name, string(text))
			}
			return f.row().emit(in, out, "/", r)
		})
	},
}

type swiftMetrics struct {
	Time     foreign.Number `json:"training_time_seconds"`
	Memory   foreign.Number `json:"peak_memory_mb"`
	Accuracy foreign.Number `json:"test_accuracy_percent"`
}

// swiftFile is the file of one configuration.
type swiftFile struct {
	Executable string                  `json:"executable"`
	Model      string                  `json:"model"`
	Backend    string                  `json:"backend"`
	Timestamp  string                  `json:"timestamp"`
	Config     map[string]foreign.Text `json:"config"`
	Metrics    swiftMetrics            `json:"metrics"`
	Compiled   bool                    `json:"compiled"`
	Own        *layoutRun              `json:"neurolens"`
}

// swiftRow is a result of a report. It has the same values as the file that it was made from, without that file's
// configuration.
type swiftRow struct {
	Model     string `json:"model"`
	Backend   string `json:"backend"`
	Compiled  bool   `json:"compiled"`
	Timestamp string `json:"timestamp"`
	swiftMetrics
	Own *layoutRun `json:"neurolens"`
}

// setSwift sets a value of a configuration. The seed is a fact, as for NeuroLens's own runs: it describes how a point was run, and does
// not identify the point.
func setSwift(r *schema.Run, name, text string) {
	if name == "seed" {
		foreign.SetFact(r, "runner.seed", foreign.Canonical(text))
		return
	}
	foreign.SetParam(r, name, text)
}

func (f *swiftFile) row() *swiftRow {
	return &swiftRow{f.Model, f.Backend, f.Compiled, f.Timestamp, f.Metrics, f.Own.known()}
}

// emit makes a run from a result; r has the parameters besides model and backend.
func (s *swiftRow) emit(in *foreign.Input, out *foreign.Output, where string, r schema.Run) error {
	r.Model, r.Backend = s.Model, s.Backend
	if s.Compiled {
		foreign.SetParam(&r, "compiled", "true")
	}
	in.SetStart(&r, s.Timestamp, append([]string{"20060102_150405"}, foreign.ISO...)...)
	if s.Own.shown("training_time_seconds") {
		single(&r, "training_time", s.Time, "s")
	}
	single(&r, "peak_memory", s.Memory, "MiB")
	single(&r, "accuracy", s.Accuracy, "%")
	s.Own.identify(&r)
	s.Own.values(&r)
	if len(r.Metrics) == 0 && s.Own == nil {
		return refusal(where, "a result without training_time_seconds, peak_memory_mb and test_accuracy_percent")
	}
	return out.Run(where, r)
}

// readSwiftReport reads the results of a report. If the configuration of a result has its own file, it is read only from
// there. A report does not have the hidden size, and its notes apply to its first result: two results that differ in
// nothing else are distinguished by their order.
func readSwiftReport(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	known := swiftKnown(in) // by content: their files
	var summary struct {
		Config map[string]foreign.Text `json:"config"`
	}
	seen := map[swiftRow]int{}
	results := array(j, out, func(where string, s *swiftRow) error {
		s.Own = s.Own.known()
		kind := *s
		kind.swiftMetrics, kind.Own = swiftMetrics{}, nil
		seen[kind]++
		if file := known[s.key()]; file != "" {
			out.LeaveTo(file, "results that have a file of their own", 1)
			return nil
		}
		r := schema.Run{Benchmark: "MNISTClassic"} // a report does not name the program
		if s.Backend == "mlx" {
			r.Benchmark = "MNISTMLX"
		}
		if s.Own == nil {
			r.Warnings = []string{"hidden_size_unknown"}
		}
		for _, name := range []string{"epochs", "batch_size", "seed"} {
			setSwift(&r, name, string(summary.Config[name]))
		}
		foreign.SetParam(&r, "row", fmt.Sprint(seen[kind]))
		return s.emit(in, out, where, r)
	})
	return fields{"summary": &summary, "results": results, "failed": results}.read(j, out)
}

// key has all values of a result in a report, in canonical numbers.
func (s *swiftRow) key() swiftRow {
	k := *s
	if k.Own != nil { // two failed results can be equal
		k.Timestamp += " " + k.Own.RunID
	}
	k.Own = nil
	for _, n := range []*foreign.Number{&k.Time, &k.Memory, &k.Accuracy} {
		*n = foreign.Number(foreign.Canonical(string(*n)))
	}
	return k
}

// Limits of the search for files of configurations.
const (
	maxSwiftFiles  = 10_000
	swiftFileBytes = 64 << 10
)

// swiftFolders are the folders near a report that may have the files of its configurations. NeuroLens writes reports into a folder next
// to them, and the runs that are not ok into another.
var swiftFolders = []string{
	".", "benchmarks", "../benchmarks", "..", "failed", "../failed", "benchmarks/failed", "../benchmarks/failed",
}

// swiftKnown returns the results that have their own file near the report, with its path.
func swiftKnown(in *foreign.Input) map[swiftRow]string {
	known := map[swiftRow]string{}
	for _, dir := range swiftFolders {
		entries := entriesOf(in, dir)
		for _, e := range entries[:min(len(entries), maxSwiftFiles)] {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || info.Size() > swiftFileBytes || !strings.HasSuffix(e.Name(), ".json") {
				continue
			}
			j, err := sideJSON(in, path.Join(dir, e.Name()))
			var f swiftFile
			if err == nil && j.Decode(&f) == nil && f.Executable != "" {
				known[f.row().key()] = path.Join(dir, e.Name())
			}
		}
	}
	return known
}
