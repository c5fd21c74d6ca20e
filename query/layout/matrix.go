package layout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
)

// matrixFile is the file of one run.
type matrixFile struct {
	Executable string        `json:"executable"`
	Model      string        `json:"model"` // "unknown" if the run has none: the scripts sort and join these words
	Backend    string        `json:"backend"`
	Timestamp  *string       `json:"timestamp"`
	Config     ordered       `json:"config"`
	Metrics    matrixMetrics `json:"metrics"`
	Compiled   bool          `json:"compiled,omitempty"`
	Own        *own          `json:"neurolens"`

	run *schema.Run
}

type matrixMetrics struct {
	Time     number `json:"training_time_seconds"`
	Memory   number `json:"peak_memory_mb"` // MiB
	Accuracy number `json:"test_accuracy_percent"`
}

// matrixConfig are the members of a configuration that the scripts write, in their order.
var matrixConfig = []string{"epochs", "batch_size", "hidden_size", "seed"}

// ordered is a map with a fixed order for its first members.
type ordered struct {
	first []string
	all   map[string]json.RawMessage
}

// MarshalJSON writes the first members in their order, then the others by name.
func (o ordered) MarshalJSON() ([]byte, error) {
	names := slices.DeleteFunc(slices.Clone(o.first), func(name string) bool { return o.all[name] == nil })
	for _, name := range slices.Sorted(maps.Keys(o.all)) {
		if !slices.Contains(o.first, name) {
			names = append(names, name)
		}
	}
	text := []byte{'{'}
	for i, name := range names {
		if i > 0 {
			text = append(text, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, key...), ':'), o.all[name]...)
	}
	return append(text, '}'), nil
}

// matrixTime returns the training time in seconds and the metrics that it comes from: training_time if the run has it, otherwise the CPU
// time, which the scripts report.
func matrixTime(r *schema.Run) (seconds number, metrics string) {
	if m := metricOf(r, "training_time", "ns"); m != nil {
		return in(middle(m), "s"), "training_time"
	}
	user, system := middle(metricOf(r, "cpu_user", "ns")), middle(metricOf(r, "cpu_system", "ns"))
	if user == nil || system == nil {
		return "", ""
	}
	return in(new(*user+*system), "s"), "cpu_user + cpu_system"
}

func matrixFileOf(r *schema.Run, began map[string]time.Time) *matrixFile {
	m := &matrixFile{
		Executable: r.Benchmark, Model: orUnknown(r.Model), Backend: orUnknown(r.Backend), Timestamp: files.Optional(stamp(r, began)),
		Config: ordered{matrixConfig, axes(r, "model", "compiled")}, Own: ownOf(r), run: r, Compiled: r.Params["compiled"] == "true",
	}
	if text := r.Params["compiled"]; text != "" && text != "true" {
		m.Config.all["compiled"] = jsonValue(text)
	}
	if seed := setting(r, "seed"); seed != "" && m.Config.all["seed"] == nil {
		m.Config.all["seed"] = jsonValue(seed)
	}
	var of string
	m.Metrics.Time, of = matrixTime(r)
	if of != "" && of != "training_time" {
		m.Own.Metrics = map[string]string{"training_time_seconds": of}
	}
	m.Own.rest(r, nil)
	m.Metrics.Memory = in(middle(metricOf(r, "peak_memory", "B")), "MiB")
	m.Metrics.Accuracy = in(middle(metricOf(r, "accuracy", "ratio")), "%")
	return m
}

// stamp formats the start of a run's session like the scripts. They write local time; this is UTC.
func stamp(r *schema.Run, began map[string]time.Time) string {
	at := began[r.SessionID]
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("20060102_150405")
}

// sessionStarts returns the start of the first run of each session.
func sessionStarts(runs []*schema.Run) map[string]time.Time {
	began := map[string]time.Time{}
	for _, r := range runs {
		if at := began[r.SessionID]; !r.StartedAt.IsZero() && (at.IsZero() || r.StartedAt.Before(at)) {
			began[r.SessionID] = r.StartedAt
		}
	}
	return began
}

// matrixNames returns possible names for the file of a run, made from its fields as in the scripts.
func matrixNames(r *schema.Run, began map[string]time.Time) []string {
	executable := strings.ToLower(r.Benchmark)
	if short := strings.TrimPrefix(executable, "mnist"); short != "" {
		executable = short // classic_cpu_h512_... of MNISTClassic
	}
	name := fileName(executable)
	if r.Backend != "" {
		name += "_" + fileName(r.Backend)
	}
	if hidden := r.Params["hidden_size"]; hidden != "" {
		name += "_h" + fileName(hidden)
	}
	ending := ""
	if at := stamp(r, began); at != "" {
		ending = "_" + at
	}
	point := name + "_" + shortPoint(r)
	return []string{name + ending, point + ending, point + "_" + shortRun(r) + ending, point + "_" + r.RunID + ending}
}

// The subfolders of the matrix layout. generate_report.py reads every *.json next to the files of runs and expects a run that was
// measured, but it does not read folders.
const (
	matrixReports = "report"
	matrixFailed  = "failed"
)

// matrix makes the files of the Swift MNIST scripts. The files of these runs that an earlier call has written under other names are
// removed; no other file in the folder is replaced.
func (f *Folder) matrix(dir string) ([]file, error) {
	runs := f.measured()
	began := sessionStarts(runs)
	possible := map[string][]string{}
	for _, r := range runs {
		possible[r.RunID] = matrixNames(r, began)
	}
	covered, taken, err := earlierRuns(dir, possible)
	if err != nil {
		return nil, err
	}
	names := named(possible, taken)
	var results, failed []*matrixFile
	var all []file
	written := map[string]bool{}
	for _, r := range runs {
		m, at := matrixFileOf(r, began), names[r.RunID]+".json"
		if r.Status == schema.StatusOK {
			results = append(results, m)
		} else {
			failed, at = append(failed, m), matrixFailed+"/"+at
		}
		one, err := document(at, m)
		if err != nil {
			return nil, err
		}
		all, written[at] = append(all, one), true
	}
	for _, at := range covered {
		if !written[at] {
			all = append(all, file{path: at, stale: func(content []byte) bool { return possible[ownIn(content, matrixMember).RunID] != nil }})
		}
	}
	for _, list := range [][]*matrixFile{results, failed} {
		slices.SortStableFunc(list, func(a, b *matrixFile) int {
			return cmp.Or(cmp.Compare(a.run.Model, b.run.Model), cmp.Compare(a.run.Backend, b.run.Backend),
				cmp.Compare(names[a.run.RunID], names[b.run.RunID]))
		})
	}
	report := matrixReportOf(results, failed)
	all = append(all, file{path: "report.json", stale: isMatrixReport}) // next to the runs, where earlier versions wrote it
	summary, err := f.summaryFiles(matrixReports+"/report.json", matrixReports+"/report.md", report, report.markdown(results, failed))
	return append(all, summary...), err
}

// matrixMember is a member of each run.
const matrixMember = "executable"

// earlierRuns returns the paths of the files in a folder that have one of these runs, and the names of all others in lower case.
func earlierRuns(dir string, runs map[string][]string) (covered []string, taken map[string]bool, err error) {
	taken = map[string]bool{}
	for _, folder := range []string{".", matrixFailed} {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("looking for the files of earlier calls: %w", err)
		}
		for _, e := range entries {
			name, is := strings.CutSuffix(e.Name(), ".json")
			if !is {
				continue
			}
			at := path.Join(folder, e.Name())
			if content, err := files.Read(filepath.Join(dir, at)); err == nil && runs[ownIn(content, matrixMember).RunID] != nil {
				covered = append(covered, at)
			} else {
				taken[strings.ToLower(name)] = true
			}
		}
	}
	return covered, taken, nil
}

// isMatrixReport reports whether this package wrote a report.
func isMatrixReport(content []byte) bool {
	var report struct {
		Summary struct {
			Total *int `json:"total_benchmarks"`
		} `json:"summary"`
		Results []json.RawMessage `json:"results"`
	}
	return json.Unmarshal(content, &report) == nil && report.Summary.Total != nil && len(report.Results) > 0 &&
		ownIn(report.Results[0], matrixMember).RunID != ""
}

// matrixReport is report.json.
type matrixReport struct {
	Summary matrixSummary `json:"summary"`
	Results []*matrixRow  `json:"results"`          // of the runs that are ok
	Failed  []*matrixRow  `json:"failed,omitempty"` // of the others
}

type matrixSummary struct {
	Total    int      `json:"total_benchmarks"` // results
	Models   []string `json:"models"`
	Backends []string `json:"backends"`
	// Config holds the members that all runs share. Members that differ between runs are null here; varied has their values.
	Config   ordered                      `json:"config"`
	Varied   map[string][]json.RawMessage `json:"varied"`
	Statuses map[string]int               `json:"statuses"` // of all runs, including runs that are no results
}

// matrixRow is a result of the report.
type matrixRow struct {
	Model     string  `json:"model"`
	Backend   string  `json:"backend"`
	Compiled  bool    `json:"compiled"`
	Timestamp *string `json:"timestamp"`
	matrixMetrics
	Executable string  `json:"executable"`
	Config     ordered `json:"config"`
	Own        *own    `json:"neurolens"`
}

func (m *matrixFile) row() *matrixRow {
	return &matrixRow{m.Model, m.Backend, m.Compiled, m.Timestamp, m.Metrics, m.Executable, m.Config, m.Own}
}

func matrixReportOf(results, failed []*matrixFile) *matrixReport {
	report := &matrixReport{Results: []*matrixRow{}, Summary: matrixSummary{
		Total: len(results), Models: []string{}, Backends: []string{}, Varied: map[string][]json.RawMessage{}, Statuses: map[string]int{},
	}}
	s := &report.Summary
	for _, m := range results {
		s.Models, s.Backends = with(s.Models, m.Model), with(s.Backends, m.Backend)
		s.Statuses[m.Own.Status]++
		report.Results = append(report.Results, m.row())
	}
	for _, m := range failed {
		s.Statuses[m.Own.Status]++
		report.Failed = append(report.Failed, m.row())
	}
	slices.Sort(s.Models)
	slices.Sort(s.Backends)
	s.configure(results)
	return report
}

// configure determines the configuration members that all runs have in common, and the values of the others.
func (s *matrixSummary) configure(results []*matrixFile) {
	s.Config = ordered{matrixConfig, map[string]json.RawMessage{}}
	values, count := map[string][]string{}, map[string]int{}
	for _, m := range results {
		for name, value := range m.Config.all {
			values[name] = with(values[name], string(value))
			count[name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) == 1 && count[name] == len(results) {
			s.Config.all[name] = json.RawMessage(values[name][0])
			continue
		}
		s.Config.all[name] = json.RawMessage("null")
		for _, value := range values[name] {
			s.Varied[name] = append(s.Varied[name], json.RawMessage(value))
		}
	}
	for _, name := range matrixConfig {
		if s.Config.all[name] == nil && len(results) > 0 {
			s.Config.all[name] = json.RawMessage("null")
		}
	}
}

// markdown returns report.md.
func (m *matrixReport) markdown(results, failed []*matrixFile) []byte {
	var p page
	s := &m.Summary
	p.line("# Benchmark Report\n\n## Summary\n")
	p.line("- **Total Benchmarks:** %d", s.Total)
	p.line("- **Models:** %s\n- **Backends:** %s", oneLine(strings.Join(s.Models, ", ")), oneLine(strings.Join(s.Backends, ", ")))
	p.line("\n### Configuration\n")
	for _, member := range []struct{ title, name string }{{"Epochs", "epochs"}, {"Batch Size", "batch_size"}, {"Seed", "seed"}} {
		p.line("- **%s:** %s", member.title, s.configText(member.name))
	}
	varied := slices.Sorted(maps.Keys(s.Varied))
	for _, name := range slices.Sorted(maps.Keys(s.Config.all)) {
		if name != "epochs" && name != "batch_size" && name != "seed" && (s.Varied[name] != nil || string(s.Config.all[name]) != "null") {
			p.line("- **%s:** %s", titled(name), s.configText(name))
		}
	}
	p.line("\n## Results\n")
	columns := []string{"Model", "Backend", "Training Time (s)", "Peak Memory (MB)", "Test Accuracy (%)"}
	for _, name := range varied {
		columns = append(columns, titled(name))
	}
	p.header(columns...)
	for _, r := range results {
		cells := []string{
			r.Model, r.Backend, shortNumber(r.Metrics.Time), shortNumber(r.Metrics.Memory), shortNumber(r.Metrics.Accuracy),
		}
		for _, name := range varied {
			cells = append(cells, strings.Trim(string(r.Config.all[name]), `"`))
		}
		p.row(cells...)
	}
	var runs []*schema.Run
	for _, r := range failed {
		runs = append(runs, r.run)
	}
	p.notOK(runs, label)
	return []byte(p.String())
}

// configText formats a member of the configuration: N/A if it is unknown, all values if there are several.
func (s *matrixSummary) configText(name string) string {
	if values := s.Varied[name]; values != nil {
		var words []string
		for _, v := range values {
			words = append(words, strings.Trim(string(v), `"`))
		}
		return oneLine(strings.Join(words, ", "))
	}
	if v := s.Config.all[name]; v != nil && string(v) != "null" {
		return oneLine(strings.Trim(string(v), `"`))
	}
	return "N/A"
}

// titled formats the name of a member as a title: Hidden Size.
func titled(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

// shortNumber formats a number with two decimals, as the scripts do, and a small one with three significant digits; N/A without
// a number.
func shortNumber(n number) string {
	if n == "" {
		return "N/A"
	}
	if v := n.float(); v < 1 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strings.TrimSuffix(strings.TrimRight(twoDigits(n), "0"), ".")
}
