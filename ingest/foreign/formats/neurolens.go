package formats

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

func neurolens() foreign.Format {
	return foreign.Format{
		Name:  "neurolens-json",
		Log:   true,
		About: "NeuroLens for Python: run documents, fingerprints, summary.csv, the ledger of a run store",
		Level: "a run is a run document, a sample is the time of its one inference; a row of a table is a run with that time as an aggregate",
		Recognize: func(h *foreign.Head) bool {
			return neurolensReader(h) != nil
		},
		Read: func(in *foreign.Input, out *foreign.Output) error {
			read := neurolensReader(in.Head)
			if read == nil {
				return errors.New("it is none of the files that are read: run documents, fingerprints, summary.csv, the ledger of a run store")
			}
			return read(in, out)
		},
	}
}

// neurolensReader gives the reader for a file by its beginning, or nil if it is not a file of NeuroLens for Python.
func neurolensReader(h *foreign.Head) func(*foreign.Input, *foreign.Output) error {
	switch {
	case h.Has("run_id", "software.backend", "model.name", "timeline"):
		return readRunDocuments
	case h.Has("run_id", "status", "error.stage", "software.backend", "model.name"):
		return readFailedDocument
	case h.Has("ops[].sig", "ops[].vector"), h.Has("vector_spec", "source_run_sha"):
		return readFingerprint
	case h.Has("run_id", "path_run_json", "total_latency_ms"):
		return readLedger
	case h.Has("bundled_at", "files[].sha256"):
		return readBundleManifest
	case h.Has("[].run_id", "[].path_run_json", "[].total_latency_ms"):
		return readListing
	case isSummary(h.FirstLine()):
		return readSummary
	case bytes.HasPrefix(h.Bytes, []byte("PAR1")) && h.Name == "_index.parquet":
		return readParquetIndex
	case bytes.HasPrefix(h.Bytes, []byte("PK")) && strings.HasSuffix(h.Name, ".bundle.zip"):
		return readBundle
	}
	return nil
}

// summaryColumns are the columns that summary.csv has in all versions.
var summaryColumns = []string{"run_id", "backend", "batch_size", "seq_len", "precision", "total_latency_ms", "gpu_utilization"}

// isSummary reports whether a line is the header of summary.csv.
func isSummary(line string) bool {
	columns := strings.Split(line, ",")
	for _, c := range summaryColumns {
		if !slices.Contains(columns, c) {
			return false
		}
	}
	return true
}

// readParquetIndex leaves the index of a run store to its ledger, which has the same values.
func readParquetIndex(in *foreign.Input, out *foreign.Output) error {
	if in.Beside(ledgerFile) {
		out.LeaveTo(ledgerFile, "index of the ledger "+ledgerFile, 1)
		return nil
	}
	return errors.New("an index in Parquet is not read: ingest the run documents that it lists, or " + ledgerFile)
}

func readBundle(*foreign.Input, *foreign.Output) error {
	return errors.New("a bundle is not read: unpack it and ingest the folder")
}

func readBundleManifest(_ *foreign.Input, out *foreign.Output) error {
	out.LeaveOut("list of the files of a bundle", 1)
	return nil
}

// knownText is a text of the tool, or empty for "unknown".
func knownText(text string) string {
	switch text {
	case "unknown", "Unknown GPU", "n/a":
		return ""
	}
	return text
}

// neurolensPoint is what one inference of NeuroLens for Python measured.
type neurolensPoint struct {
	model, backend, precision string
	batch, seq                foreign.Number
}

// run makes a run of the point. A size that is not positive is unknown.
func (p *neurolensPoint) run() schema.Run {
	r := schema.Run{Benchmark: knownText(p.model), Model: knownText(p.model), Backend: p.backend}
	if r.Benchmark == "" {
		r.Benchmark = "bench" // as the command that measured it
	}
	foreign.SetParam(&r, "precision", knownText(p.precision))
	foreign.SetParam(&r, "batch_size", string(positive(p.batch)))
	foreign.SetParam(&r, "seq_len", string(positive(p.seq)))
	return r
}
