package layout

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
)

// The table, and the one before it if some of that could not be read.
const (
	summaryFile = "summary.csv"
	oldFile     = "summary.csv.old"
)

// knownRows returns the rows of an existing summary.csv, and a row for each document that has none there, by run_id. A table of the harness
// itself, which has fewer columns, counts too. A file with anything else in it is copied.
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

// keepOld copies a table of which some could not be read, because the new one replaces it.
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
	reader := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))) // which spreadsheets write
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

// documentRow returns the row of a document, or nil if the file is none. It has what the document says: nothing for a placeholder.
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
	if d.Meta.Tags[tagRun] != "" && d.Meta.Tags[tagPoint] == "" { // of an earlier version, in which only profiled runs had operators
		profiled = hasOperators(d.Timeline) && d.Meta.Tags[tagProfile] == ""
	}
	if profiled {
		latency = nil // it is the sum of the operators
	}
	if slices.Contains(placeholders, "summary.metrics.gpu_utilization") {
		utilization = nil
	}
	if d.Meta.Tags[tagRun] == "" { // the harness writes 0 for what it does not know
		latency, utilization = notZero(latency), notZero(utilization)
	}
	status := d.Status
	if status == "" {
		status = string(schema.StatusOK)
	}
	var of point
	_ = json.Unmarshal([]byte(d.Meta.Tags[tagPoint]), &of) // the harness has no such tag
	return append([]string{
		id, d.Software.Backend, known(d.Meta.Config.BatchSize, "meta.config.batch_size"), known(d.Meta.Config.SeqLen, "meta.config.sequence_length"),
		d.Software.Precision, realText(latency), realText(utilization), d.Model.Name, orUnknownText(d.Meta.Env.GPUName), status, d.RunID,
	}, of.columns()...)
}

func notZero(v *float64) *float64 {
	if v == nil || *v == 0 {
		return nil
	}
	return v
}
