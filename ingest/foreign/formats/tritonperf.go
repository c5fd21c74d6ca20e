package formats

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var tritonPerfReport = foreign.Format{
	Name: "triton-perf-report",
	About: "Triton perf_report: PLOT.csv; recognised if its columns name their units, otherwise add --from. " +
		"Values of a file without units have no unit and no direction",
	Level: "a run is one provider in one row; it has only the median",
	Recognize: func(h *foreign.Head) bool {
		t := tritonColumns(h)
		return t != nil && t.uniform && !slices.ContainsFunc(t.providers, func(p tritonProvider) bool { return p.metric == unnamedMetric })
	},
	Resembles: func(h *foreign.Head) bool {
		t := tritonColumns(h)
		return t != nil && (t.uniform || strings.HasSuffix(h.Name, "-performance.csv"))
	},
	Read: readTritonPerfReport,
}

// tritonTable describes the columns of a report: first axes, then providers.
type tritonTable struct {
	plot      string
	axes      []string
	providers []tritonProvider
	uniform   bool // all cells are numbers of as many decimals, axes too
}

// tritonProvider is a column of values: a line of the plot.
type tritonProvider struct {
	name     string
	metric   string
	unit     string
	column   int
	min, max int // columns; 0 for none
}

// unnamedMetric is the metric for values whose unit the file does not name.
const unnamedMetric = "value"

var (
	tritonNumber = regexp.MustCompile(`^-?[0-9]+\.[0-9]+$`)
	tritonWhole  = regexp.MustCompile(`^-?[0-9]+\.0+$`)
	tritonUnit   = regexp.MustCompile(`^(.*?)\s*\(([^()]*)\)$`)
)

// tritonUnits are the units of labels, as written in examples.
var tritonUnits = map[string]struct{ metric, unit string }{
	"gb/s": {"bandwidth", "GB/s"}, "gbps": {"bandwidth", "GB/s"}, "tb/s": {"bandwidth", "TB/s"},
	"tflops": {"compute", "Tflop/s"}, "tflop/s": {"compute", "Tflop/s"}, "tflops/s": {"compute", "Tflop/s"}, "gflops": {"compute", "Gflop/s"},
	"ms": {schema.PrimaryMetric, "ms"}, "us": {schema.PrimaryMetric, "us"}, "µs": {schema.PrimaryMetric, "us"}, "s": {schema.PrimaryMetric, "s"},
}

// tritonLabel returns the spelling of a label in tritonUnits.
func tritonLabel(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// hasTritonUnit reports whether the name of a column has a unit. The name of an axis never has one.
func hasTritonUnit(name string) bool {
	m := tritonUnit.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	_, ok := tritonUnits[tritonLabel(m[2])]
	return ok
}

// maxTritonColumns is larger than the number of lines of any plot.
const maxTritonColumns = 1000

// tritonColumns determines the columns from the beginning of a file, or returns nil if it is not a report. All numbers have equally many
// decimals. A column with only whole numbers is an axis, up to the first column that has others.
func tritonColumns(h *foreign.Head) *tritonTable {
	text := h.Bytes
	if !h.Whole {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	header, err := r.Read()
	if err != nil || len(header) < 2 || len(header) > maxTritonColumns || slices.Contains(header, "") {
		return nil
	}
	axes, rows, uniform, decimals := len(header)-1, 0, true, 0
	if i := slices.IndexFunc(header, hasTritonUnit); i >= 0 {
		axes = min(axes, i)
	}
	for {
		record, err := r.Read()
		if err != nil {
			break // the end, or an error that is reported when the file is read
		}
		rows++
		for i, cell := range record {
			if _, digits, _ := strings.Cut(cell, "."); !tritonMissing(cell) {
				if decimals == 0 {
					decimals = len(digits)
				}
				uniform = uniform && len(digits) == decimals && tritonNumber.MatchString(cell)
			}
			switch {
			case tritonWhole.MatchString(cell) || (i == 0 && !tritonMissing(cell)):
			case tritonNumber.MatchString(cell) || tritonMissing(cell):
				axes = min(axes, i)
			}
		}
	}
	if axes == 0 || rows == 0 {
		return nil
	}
	t := &tritonTable{axes: header[:axes], uniform: uniform}
	t.addProviders(header)
	if len(t.providers) == 0 {
		return nil
	}
	return t
}

// tritonMissing reports whether a cell has no value: the configuration failed.
func tritonMissing(cell string) bool { return cell == "" || strings.EqualFold(cell, "nan") }

func (t *tritonTable) addProviders(header []string) {
	for i := len(t.axes); i < len(header); i++ {
		name := header[i]
		if strings.HasSuffix(name, "-min") || strings.HasSuffix(name, "-max") || (name == "Diff" && i == len(header)-1) {
			continue
		}
		p := tritonProvider{name: name, metric: unnamedMetric, column: i}
		if m := tritonUnit.FindStringSubmatch(name); m != nil && hasTritonUnit(name) {
			known := tritonUnits[tritonLabel(m[2])]
			p.name, p.metric, p.unit = m[1], known.metric, known.unit
		}
		p.min, p.max = max(0, slices.Index(header, name+"-min")), max(0, slices.Index(header, name+"-max"))
		t.providers = append(t.providers, p)
	}
}

func readTritonPerfReport(in *foreign.Input, out *foreign.Output) error {
	t := tritonColumns(in.Head)
	if t == nil {
		return fmt.Errorf("reading %s: want a header, and rows of axes and decimal numbers below it", in.Name)
	}
	t.plot = strings.TrimSuffix(strings.TrimSuffix(baseName(in.Name), ".gz"), ".csv")
	return tables{
		heading: func(names, _ []string) bool { return names == nil },
		fits:    func(_, _ []string) bool { return true },
		row: func(out *foreign.Output, where string, names, record []string) error {
			if len(record) != len(names) {
				return refusal(where, "%d columns, but the first line has %d", len(record), len(names))
			}
			for i := range t.providers {
				r, err := t.run(record, &t.providers[i])
				if err := out.RunOr(where, r, err); err != nil {
					return err
				}
			}
			return nil
		},
	}.read(in, out)
}

// run returns the run of a provider in a row.
func (t *tritonTable) run(record []string, p *tritonProvider) (schema.Run, error) {
	r := schema.Run{Benchmark: t.plot}
	for i, name := range t.axes {
		foreign.SetParam(&r, name, record[i])
	}
	r.Backend = p.name
	cell := record[p.column]
	if tritonMissing(cell) {
		r.Status, r.Error = schema.StatusError, "no value"
		return r, nil
	}
	value := func(cell string) *float64 {
		if !tritonNumber.MatchString(cell) {
			return nil
		}
		return foreign.Number(cell).Finite(p.unit)
	}
	m := foreign.Aggregate(p.metric, p.unit, schema.Summary{P50: value(cell)})
	if m.Summary.P50 == nil {
		return r, fmt.Errorf("column %s: %q is not a decimal number", p.name, cell)
	}
	if p.min > 0 {
		m.Summary.Min = value(record[p.min])
	}
	if p.max > 0 {
		m.Summary.Max = value(record[p.max])
	}
	foreign.Add(&r, m, p.unit)
	return r, nil
}
