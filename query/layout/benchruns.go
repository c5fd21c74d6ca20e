package layout

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

var summaryHeader = []string{
	"run_id", "backend", "batch_size", "seq_len", "precision", "total_latency_ms", "gpu_utilization", "model", "gpu_name",
	"status", "run_uuid", "suite", "benchmark", "variant", "params",
}

// harnessColumns is the number of the first columns, which every version of the harness writes.
const harnessColumns = 7

// failedSuffix is the end of the file name of the document of a failed run (any run that is not ok).
const failedSuffix = ".failed.json"

// BenchRuns writes the artifacts of one session to a directory; the package documentation lists them. Run documents and fingerprints
// of earlier sessions remain, and summary.csv has a row for each document of the directory. Every file is replaced atomically, so
// no reader sees a partial file. A BenchRuns is not safe for concurrent use.
type BenchRuns struct {
	dir     string
	summary bytes.Buffer // contents of summary.csv once all rows are saved
	rows    int
	saved   int            // number of rows already in the file
	reasons []reason       // why something is missing, in order of first occurrence
	without map[reason]int // number of runs for each reason
	notes   []string       // about the folder as a whole
	// documents are the ids of the measured runs that have a document, by the point and side.
	documents map[string][]schema.ULID
}

// The directories of run documents and fingerprints.
const (
	runsFolder = "runs"
	fpFolder   = "fp"
)

// OpenBenchRuns makes the directory and its parents. The directories below it are made with their first file, because a sweep of
// programs or Python functions writes no files there. An existing summary.csv stays unchanged: the session may still be refused.
func OpenBenchRuns(dir string) (*BenchRuns, error) {
	b := &BenchRuns{dir: dir, without: map[reason]int{}, documents: map[string][]schema.ULID{}}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making %s: %w", dir, err)
	}
	for _, name := range []string{runsFolder, fpFolder} {
		folder := filepath.Join(dir, name)
		if info, err := os.Stat(folder); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("making %s: it is a file", folder)
		}
	}
	return b, nil
}

// Begin rewrites summary.csv. It keeps the existing rows, and adds a row for each document without one, because a crash can lose rows.
// It also writes the documents and rows of runs that this session resumes and that the directory lacks: load passes the runs with some
// ids to each, whole and in their order. earlier needs only the ids, the point, the purpose, the status and the backend of a run. If the
// directory cannot be written, Begin fails before anything is measured. Rows are in the order of run_id, and so of the starts of the
// runs.
func (b *BenchRuns) Begin(earlier []schema.Run, load func(ids []string, each func(schema.Run) error) error) error {
	known, err := b.knownRows()
	if err != nil {
		return err
	}
	missing, err := b.missing(earlier, known)
	if err == nil && len(missing) > 0 {
		err = load(missing, func(run schema.Run) error {
			row, err := b.write(&run)
			if row != nil && known[run.RunID] == nil {
				known[run.RunID] = row
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	if err := b.appendRow(summaryHeader); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		if err := b.appendRow(known[id]); err != nil {
			return err
		}
		b.rows++
	}
	return b.save()
}

// missing returns the ids of the runs of earlier sessions that are not in the directory, profiled runs last. It notes the documents of
// the other runs, so that a profiled run of their point can complete them.
func (b *BenchRuns) missing(earlier []schema.Run, known map[string][]string) (ids []string, err error) {
	var profiled []*schema.Run
	restored := map[string]bool{} // points
	for i := range earlier {
		run := &earlier[i]
		id, err := schema.ParseULID(run.RunID)
		if err != nil {
			return nil, fmt.Errorf("adding a run to %s: run_id: %w", b.dir, err)
		}
		there, point := b.documented(run), run.PointID+run.Side
		switch {
		case run.Purpose == schema.PurposeProfile:
			profiled = append(profiled, run)
		case known[run.RunID] == nil || !there && (run.Status != schema.StatusOK || slices.Contains(backends, run.Backend)):
			ids, restored[point] = append(ids, run.RunID), true
		case there && run.Status == schema.StatusOK:
			b.documents[point] = append(b.documents[point], id)
		}
	}
	slices.Sort(ids) // so that the first document of a point belongs to its first run
	for _, run := range profiled {
		point := run.PointID + run.Side
		if restored[point] || len(b.documents[point]) == 0 && !b.documented(run) {
			ids = append(ids, run.RunID)
		}
	}
	return ids, nil
}

// documented reports whether the directory has the document of a run.
func (b *BenchRuns) documented(run *schema.Run) bool {
	ending := ".json"
	if run.Status != schema.StatusOK {
		ending = failedSuffix
	}
	_, err := os.Stat(filepath.Join(b.dir, runsFolder, run.RunID+ending))
	return err == nil
}

// Add writes the document and the fingerprint of a run, if it has them, then its row. The operators of a profiled run become the
// timeline of the documents of the measured runs of its point; without such documents it has its own document. After an error, the run
// is not in summary.csv yet: the next call that succeeds writes all rows that were added.
func (b *BenchRuns) Add(run schema.Run) error {
	row, err := b.write(&run)
	if err != nil || row == nil {
		return err
	}
	if err := b.appendRow(row); err != nil {
		return err
	}
	b.rows++
	// Rewriting the file for each of a hundred thousand runs would write hundreds of gigabytes. It is therefore rewritten when it has
	// grown by 1 %: after every run up to 100 rows. A crash loses at most the last 1 % of the rows, which the next session adds.
	if b.rows-b.saved <= b.saved/100 {
		return nil
	}
	return b.save()
}

// write writes the document and the fingerprint of a run, and returns its row; nil if it has none.
func (b *BenchRuns) write(run *schema.Run) (row []string, err error) {
	id, err := schema.ParseULID(run.RunID)
	if err != nil {
		return nil, fmt.Errorf("adding a run to %s: run_id: %w", b.dir, err)
	}
	profile := run.Purpose == schema.PurposeProfile
	if profile && run.Status == schema.StatusOK && len(b.documents[run.PointID+run.Side]) > 0 {
		return nil, b.complete(run, id)
	}
	written := true
	if run.Status != schema.StatusOK {
		err = b.addFailed(run, id)
	} else {
		written, err = b.addDocument(run, id)
	}
	if err != nil || profile && !written {
		return nil, err
	}
	return summaryRow(run, id), nil
}

// complete gives the documents of the measured runs of a point the operators of a profiled run, and a fingerprint.
func (b *BenchRuns) complete(run *schema.Run, id schema.ULID) error {
	var first *schema.ULID
	for _, of := range b.documents[run.PointID+run.Side] {
		path := filepath.Join(b.dir, runsFolder, of.String()+".json")
		text, err := files.Read(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody removed it
		}
		if err != nil && !errors.Is(err, fs.ErrInvalid) {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		var d runDocument
		if err != nil || json.Unmarshal(text, &d) != nil || d.Meta.Tags[tagRun] != of.String() {
			b.miss(noProfile, "the document was changed")
			continue
		}
		if first == nil {
			first = &of
		}
		if err := d.withTimeline(run, id, *first); err != nil {
			b.miss(noProfile, "the profiled run: "+err.Error())
			continue
		}
		if err := b.writeDocument(&d, of); err != nil {
			return err
		}
	}
	return nil
}

func (b *BenchRuns) addFailed(run *schema.Run, id schema.ULID) error {
	text, err := files.JSON(newFailedDocument(run, id))
	if err != nil {
		return fmt.Errorf("writing the document of run %s: %w", id, err)
	}
	return b.replace(runsFolder, id.String()+failedSuffix, text)
}

// replace writes a file in one of the directories.
func (b *BenchRuns) replace(folder, name string, text []byte) error {
	path := filepath.Join(b.dir, folder)
	if err := os.MkdirAll(path, 0o777); err != nil {
		return fmt.Errorf("making %s: %w", path, err)
	}
	return files.Replace(filepath.Join(path, name), text)
}

// reason describes what a run lacks, and why.
type reason struct{ missing, why string }

// The files that a run may lack.
const (
	noDocument = "no run document"
	noProfile  = "no profile in its document"
)

// miss counts a run without something.
func (b *BenchRuns) miss(missing, why string) {
	of := reason{missing, why}
	if b.without[of]++; b.without[of] == 1 {
		b.reasons = append(b.reasons, of)
	}
}

// addDocument writes the document of an ok run, and reports whether the schema can express it.
func (b *BenchRuns) addDocument(run *schema.Run, id schema.ULID) (bool, error) {
	d, err := newDocument(run, id)
	if err != nil {
		b.miss(noDocument, err.Error())
		return false, nil
	}
	if err := b.writeDocument(d, id); err != nil {
		return false, err
	}
	if run.Purpose == schema.PurposeMeasure {
		b.documents[run.PointID+run.Side] = append(b.documents[run.PointID+run.Side], id)
	}
	return true, nil
}

// writeDocument writes a document and, if it has operators, its fingerprint.
func (b *BenchRuns) writeDocument(d *runDocument, id schema.ULID) error {
	text, err := files.JSON(d)
	if err != nil {
		return fmt.Errorf("writing the document of run %s: %w", id, err)
	}
	if err := b.replace(runsFolder, id.String()+".json", text); err != nil || !hasOperators(d.Timeline) {
		return err
	}
	print, err := newFingerprint(d, text)
	if err != nil {
		return fmt.Errorf("writing the fingerprint of run %s: %w", id, err)
	}
	if text, err = files.JSON(print); err != nil {
		return fmt.Errorf("writing the fingerprint of run %s: %w", id, err)
	}
	return b.replace(fpFolder, id.String()+".fp.json", text)
}

// Close writes the rows that are not in summary.csv yet.
func (b *BenchRuns) Close() error {
	if b.saved == b.rows {
		return nil
	}
	return b.save()
}

// Warnings returns one line for each reason why files are missing from the directory, with the number of runs.
func (b *BenchRuns) Warnings() []string {
	var lines []string
	for _, note := range b.notes {
		lines = append(lines, b.dir+": "+note)
	}
	for _, reason := range b.reasons {
		runs := "1 run has"
		if n := b.without[reason]; n > 1 {
			runs = strconv.Itoa(n) + " runs have"
		}
		lines = append(lines, fmt.Sprintf("%s: %s %s: %s", b.dir, runs, reason.missing, reason.why))
	}
	return lines
}

// save replaces summary.csv.
func (b *BenchRuns) save() error {
	if err := files.Replace(filepath.Join(b.dir, summaryFile), b.summary.Bytes()); err != nil {
		return err
	}
	b.saved = b.rows
	return nil
}

func (b *BenchRuns) appendRow(fields []string) error {
	w := csv.NewWriter(&b.summary)
	w.UseCRLF = true
	if err := w.Write(fields); err != nil {
		return fmt.Errorf("adding a row to summary.csv: %w", err)
	}
	w.Flush()
	return w.Error()
}

func summaryRow(run *schema.Run, id schema.ULID) []string {
	var latency, utilization *float64
	if run.Status == schema.StatusOK && run.Purpose != schema.PurposeProfile {
		latency, utilization = latencyMS(run, .5), share(run, "gpu_utilization")
	}
	return append([]string{
		id.String(), run.Backend, integerText(batchSize(run)), integerText(seqLen(run)), precision(run),
		realText(latency), realText(utilization), run.Model, orUnknown(run.Env.GPUName),
		string(run.Status), ulidAsUUID(id),
	}, pointOf(run).columns()...)
}

// columns returns the suite and the axes for which the harness has no column. The axes without a column here are a JSON object.
func (p point) columns() []string {
	params := ""
	if len(p.Params) > 0 {
		if text, err := json.Marshal(p.Params); err == nil { // cannot fail for texts
			params = string(text)
		}
	}
	return []string{p.Suite, p.Benchmark, p.Variant, params}
}

func integerText(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func realText(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// hardwareOf describes the device that computed. All GPUs in a run's environment are from NVIDIA.
func hardwareOf(run *schema.Run) (hardware, error) {
	env := &run.Env
	h := hardware{
		Vendor: "CPU", GPUModel: orUnknown(env.CPUModel), GPUCount: 1, DriverVersion: orUnknown(env.OSKernel),
	}
	memory := env.MemoryBytes
	if env.GPUName != "" && !onCPU(run) {
		h.Vendor, h.GPUModel, h.DriverVersion = "NVIDIA", env.GPUName, orUnknown(env.DriverVersion)
		if env.GPUCount != nil {
			h.GPUCount = max(*env.GPUCount, 1)
		}
		memory = nil
		if n, err := strconv.ParseInt(env.Facts["gpu.0.memory"], 10, 64); err == nil {
			memory = &n
		}
	}
	if memory == nil || *memory <= 0 {
		return h, fmt.Errorf("the memory size of %s is not known", h.GPUModel)
	}
	h.MemoryGB = float64(*memory) / 1e9
	return h, nil
}

// onCPU reports whether the run declares that it did not compute on the machine's GPU.
func onCPU(run *schema.Run) bool {
	return run.Applied["device"] == "cpu" || run.Applied["provider"] == "CPUExecutionProvider"
}

func environmentOf(env schema.Env) environment {
	return environment{
		CUDAVersion: orUnknown(env.CUDAVersion), DriverVersion: orUnknown(env.DriverVersion), GPUName: orUnknown(env.GPUName),
		OS: orUnknown(strings.TrimSpace(env.OS + " " + env.OSKernel)), PythonVersion: orUnknown(env.PythonVersion),
	}
}

// nameOf returns the name of the measured benchmark.
func nameOf(run *schema.Run) string {
	return cmp.Or(run.Model, run.Benchmark, unknown)
}

// batchSize, seqLen and precision are the requested values, otherwise the values that the benchmark reports.
func batchSize(run *schema.Run) *int64 { return askedOrApplied(run, run.BatchSize, "batch_size") }
func seqLen(run *schema.Run) *int64    { return askedOrApplied(run, run.SeqLen, "seq_len") }

func precision(run *schema.Run) string { return cmp.Or(run.Precision, run.Applied["precision"]) }

func askedOrApplied(run *schema.Run, asked *int64, name string) *int64 {
	if asked != nil {
		return asked
	}
	if n, err := strconv.ParseInt(run.Applied[name], 10, 64); err == nil {
		return &n
	}
	return nil
}

// latencyMS returns a quantile of the latency of one iteration, or nil if it was not measured.
func latencyMS(run *schema.Run, p float64) *float64 {
	if ns := quantile(run, schema.PrimaryMetric, "ns", p); ns != nil {
		return new(toMS(*ns))
	}
	return nil
}

// toMS returns a duration in ms without digits that are rounding errors.
func toMS(ns float64) float64 { return schema.RoundedTo(schema.CertainDigits, ns/1e6) }

// share returns the median of a metric from 0 to 1, or nil if it was not measured.
func share(run *schema.Run, name string) *float64 {
	v := quantile(run, name, "ratio", .5)
	if v == nil || *v < 0 || *v > 1 {
		return nil
	}
	return v
}

// quantile returns a quantile of a metric's samples, or nil if the run has none in that unit or they are not finite.
func quantile(run *schema.Run, name, unit string, p float64) *float64 {
	m := run.Metric(name)
	if m == nil || m.Unit != unit {
		return nil
	}
	values := m.Values()
	if len(values) == 0 && p == .5 { // only the summary was read
		return m.Summary.P50
	}
	v := stat.Quantile(slices.Sorted(slices.Values(values)), p)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// ulidAsUUID formats the bits of a ULID as a UUID.
func ulidAsUUID(id schema.ULID) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// The table, and the copy of the one before it if it could not be read completely.
const (
	summaryFile = "summary.csv"
	oldFile     = "summary.csv.old"
)

// knownRows returns the rows of an existing summary.csv, and a row for each document that has no row there, by run_id. A table of the
// harness itself, which has fewer columns, counts too. A file with anything else in it is copied.
func (b *BenchRuns) knownRows() (map[string][]string, error) {
	known := map[string][]string{}
	text, err := os.ReadFile(filepath.Join(b.dir, summaryFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the rows of %s: %w", b.dir, err)
	}
	if unread := readRows(text, known); unread != nil {
		if err := b.keepOld(text, unread); err != nil {
			return nil, err
		}
	}
	entries, err := os.ReadDir(filepath.Join(b.dir, runsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the documents of %s: %w", b.dir, err)
	}
	for _, e := range entries {
		id, is := strings.CutSuffix(e.Name(), ".json")
		if failed, of := strings.CutSuffix(e.Name(), failedSuffix); of {
			id = failed
		}
		if !is || known[id] != nil {
			continue
		}
		if row := documentRow(filepath.Join(b.dir, runsFolder, e.Name()), id); row != nil {
			known[id] = row
		}
	}
	return known, nil
}

// keepOld copies a table that could not be read completely, because the new one replaces it.
func (b *BenchRuns) keepOld(text []byte, unread error) error {
	old := filepath.Join(b.dir, oldFile)
	if _, err := os.Lstat(old); err == nil {
		return fmt.Errorf("reading the rows of %s: %s: %w; move it or %s away", b.dir, summaryFile, unread, oldFile)
	}
	b.notes = append(b.notes, fmt.Sprintf("%s was written anew without what cannot be read (%v); %s is the one before", summaryFile, unread, oldFile))
	return files.Replace(old, text)
}

// readRows adds the rows of a table, with the columns of summaryHeader. The error is about the first text that is no row.
func readRows(text []byte, known map[string][]string) error {
	reader := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))) // spreadsheets write a byte order mark
	reader.FieldsPerRecord = -1
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	at := make([]int, len(summaryHeader))
	for i, name := range summaryHeader {
		if at[i] = slices.Index(header, name); at[i] < 0 && i < harnessColumns {
			return fmt.Errorf("it has no column %s", name)
		}
	}
	var unread error
	for {
		fields, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			return unread
		case err != nil:
		case !slices.ContainsFunc(fields, func(text string) bool { return text != "" }):
			continue
		case len(fields) != len(header):
			err = fmt.Errorf("%d fields, want %d", len(fields), len(header))
		case fields[at[0]] == "":
			err = fmt.Errorf("no %s", summaryHeader[0])
		default:
			row := make([]string, len(at))
			for i, from := range at {
				if from >= 0 {
					row[i] = fields[from]
				}
			}
			known[row[0]] = row
			continue
		}
		if unread != nil {
			continue
		}
		if at, is := errors.AsType[*csv.ParseError](err); is {
			unread = fmt.Errorf("line %d: %w", at.StartLine, at.Err)
		} else {
			line, _ := reader.FieldPos(0)
			unread = fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// documentRow returns the row of a document, or nil if the file is not a document. Cells of placeholders are empty.
func documentRow(path, id string) []string {
	text, err := files.Read(path)
	if err != nil {
		return nil
	}
	var d struct {
		RunID    string `json:"run_id"`
		Status   string `json:"status"` // of a run that is not ok
		Software *struct{ Backend, Precision string }
		Model    struct{ Name string }
		Meta     struct {
			Config struct {
				BatchSize *int64 `json:"batch_size"`
				SeqLen    *int64 `json:"sequence_length"`
			}
			Env struct {
				GPUName string `json:"gpu_name"`
			}
			Tags map[string]string
		}
		Summary struct {
			Total   *float64 `json:"total_duration_ms"`
			Metrics struct {
				Utilization *float64 `json:"gpu_utilization"`
			}
		}
		Timeline []operation
	}
	if json.Unmarshal(text, &d) != nil || d.RunID == "" || d.Software == nil {
		return nil
	}
	placeholders := strings.Split(d.Meta.Tags[tagPlaceholders], ",")
	known := func(n *int64, path string) string {
		if slices.Contains(placeholders, path) {
			return ""
		}
		return integerText(n)
	}
	latency, utilization := d.Summary.Total, d.Summary.Metrics.Utilization
	profiled := d.Meta.Tags[tagPurpose] == string(schema.PurposeProfile)
	if d.Meta.Tags[tagRun] != "" && d.Meta.Tags[tagPoint] == "" { // an earlier version, in which only profiled runs had operators
		profiled = hasOperators(d.Timeline) && d.Meta.Tags[tagProfile] == ""
	}
	if profiled {
		latency = nil // it is the sum of the operators
	}
	if slices.Contains(placeholders, "summary.metrics.gpu_utilization") {
		utilization = nil
	}
	if d.Meta.Tags[tagRun] == "" { // the harness writes 0 for unknown values
		latency, utilization = notZero(latency), notZero(utilization)
	}
	var of point
	_ = json.Unmarshal([]byte(d.Meta.Tags[tagPoint]), &of) // the harness has no such tag
	return append([]string{
		id, d.Software.Backend, known(d.Meta.Config.BatchSize, "meta.config.batch_size"), known(d.Meta.Config.SeqLen, "meta.config.sequence_length"),
		d.Software.Precision, realText(latency), realText(utilization), d.Model.Name, orUnknown(d.Meta.Env.GPUName), cmp.Or(d.Status, string(schema.StatusOK)), d.RunID,
	}, of.columns()...)
}

func notZero(v *float64) *float64 {
	if v == nil || *v == 0 {
		return nil
	}
	return v
}
