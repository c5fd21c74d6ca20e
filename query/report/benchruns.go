package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
)

var summaryHeader = []string{
	"run_id", "backend", "batch_size", "seq_len", "precision", "total_latency_ms", "gpu_utilization", "model", "gpu_name",
	"status", "run_uuid",
}

// failedEnding is the end of the file name of the document of a failed run (any run that is not ok).
const failedEnding = ".failed.json"

// BenchRuns writes the artifacts of one session to a directory; the package documentation lists them. Run documents and fingerprints
// of earlier sessions remain; summary.csv covers this session and the sessions that it resumes. Every file is replaced atomically, so
// no reader sees a partial file. A BenchRuns is not safe for concurrent use.
type BenchRuns struct {
	dir     string
	summary bytes.Buffer // contents of summary.csv once all rows are saved
	rows    int
	saved   int            // number of rows already in the file
	reasons []string       // why ok runs have no document, in order of first occurrence
	without map[string]int // number of runs for each reason
}

// The directories of run documents and fingerprints.
const (
	runsFolder = "runs"
	fpFolder   = "fp"
)

// OpenBenchRuns makes the directory and its parents. The directories below it are made with their first file, because a sweep of
// programs or Python functions writes no files there. An existing summary.csv is left alone: the session may still be refused.
func OpenBenchRuns(dir string) (*BenchRuns, error) {
	b := &BenchRuns{dir: dir, without: map[string]int{}}
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

// Begin replaces summary.csv by one with the rows of the runs that earlier sessions of this sweep have completed. If the directory
// cannot be written, this fails before anything is measured. The rows have the columns of the runs in the store; columns that the
// store does not have are taken from the run's row in the old summary.csv.
func (b *BenchRuns) Begin(earlier []schema.Run) error {
	known := b.knownRows()
	if err := b.appendRow(summaryHeader); err != nil {
		return err
	}
	for i := range earlier {
		run := &earlier[i]
		id, err := schema.ParseULID(run.RunID)
		if err != nil {
			return fmt.Errorf("adding a run to %s: run_id: %w", b.dir, err)
		}
		row := known[run.RunID]
		if row == nil {
			row = summaryRow(run, id)
		}
		if err := b.appendRow(row); err != nil {
			return err
		}
		b.rows++
	}
	return b.save()
}

// knownRows returns the rows of an existing summary.csv by run_id, if NeuroLens wrote it.
func (b *BenchRuns) knownRows() map[string][]string {
	text, err := os.ReadFile(filepath.Join(b.dir, "summary.csv"))
	if err != nil {
		return nil
	}
	table, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(table) == 0 || !slices.Equal(table[0], summaryHeader) {
		return nil
	}
	known := map[string][]string{}
	for _, row := range table[1:] {
		known[row[0]] = row
	}
	return known
}

// Add writes the document and the fingerprint of a run, if it has them, then its row. A profiling run has no row, because it measures no
// latency. After an error, the run is not in summary.csv yet: the next call that succeeds writes all rows that were added.
func (b *BenchRuns) Add(run schema.Run) error {
	id, err := schema.ParseULID(run.RunID)
	if err != nil {
		return fmt.Errorf("adding a run to %s: run_id: %w", b.dir, err)
	}
	add := b.addDocument
	if run.Status != schema.StatusOK {
		add = b.addFailed
	}
	if err := add(&run, id); err != nil {
		return err
	}
	if run.Purpose == schema.PurposeProfile {
		return nil
	}
	if err := b.appendRow(summaryRow(&run, id)); err != nil {
		return err
	}
	b.rows++
	// Rewriting the file for each of a hundred thousand runs would write hundreds of gigabytes. It is therefore rewritten when it has
	// grown by 1 %: after every run up to 100 rows. A crash loses at most the last 1 % of the rows.
	if b.rows-b.saved <= b.saved/100 {
		return nil
	}
	return b.save()
}

func (b *BenchRuns) addFailed(run *schema.Run, id schema.ULID) error {
	text, err := files.JSON(newFailedDocument(run, id))
	if err != nil {
		return fmt.Errorf("writing the document of run %s: %w", id, err)
	}
	return b.replace(runsFolder, id.String()+failedEnding, text)
}

// replace writes a file in one of the directories.
func (b *BenchRuns) replace(folder, name string, text []byte) error {
	path := filepath.Join(b.dir, folder)
	if err := os.MkdirAll(path, 0o777); err != nil {
		return fmt.Errorf("making %s: %w", path, err)
	}
	return files.Replace(filepath.Join(path, name), text)
}

func (b *BenchRuns) addDocument(run *schema.Run, id schema.ULID) error {
	d, err := newDocument(run, id)
	if err != nil {
		reason := err.Error()
		if b.without[reason]++; b.without[reason] == 1 {
			b.reasons = append(b.reasons, reason)
		}
		return nil
	}
	text, err := files.JSON(d)
	if err != nil {
		return fmt.Errorf("writing the document of run %s: %w", id, err)
	}
	print, err := newFingerprint(d, text)
	if err != nil {
		return fmt.Errorf("writing the fingerprint of run %s: %w", id, err)
	}
	printText, err := files.JSON(print)
	if err != nil {
		return fmt.Errorf("writing the fingerprint of run %s: %w", id, err)
	}
	if err := b.replace(runsFolder, id.String()+".json", text); err != nil {
		return err
	}
	return b.replace(fpFolder, id.String()+".fp.json", printText)
}

// Close writes the rows that are not in summary.csv yet.
func (b *BenchRuns) Close() error {
	if b.saved == b.rows {
		return nil
	}
	return b.save()
}

// Warnings returns why ok runs have no document: one line for each reason, with the number of runs.
func (b *BenchRuns) Warnings() []string {
	var lines []string
	for _, reason := range b.reasons {
		runs := "1 run has"
		if n := b.without[reason]; n > 1 {
			runs = strconv.Itoa(n) + " runs have"
		}
		lines = append(lines, fmt.Sprintf("%s: %s no run document: %s", b.dir, runs, reason))
	}
	return lines
}

// save replaces summary.csv.
func (b *BenchRuns) save() error {
	if err := files.Replace(filepath.Join(b.dir, "summary.csv"), b.summary.Bytes()); err != nil {
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
	if run.Status == schema.StatusOK {
		latency, utilization = latencyMS(run, .5), share(run, "gpu_utilization")
	}
	return []string{
		id.String(), run.Backend, integerText(batchSize(run)), integerText(seqLen(run)), precision(run),
		realText(latency), realText(utilization), run.Model, orUnknown(run.Env.GPUName),
		string(run.Status), uuid(id),
	}
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
