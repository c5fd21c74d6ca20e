package formats

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// nvbandwidth reads the output of nvbandwidth, as text and as JSON.
var nvbandwidth = foreign.Format{
	Name: "nvbandwidth", About: "NVIDIA nvbandwidth: its output, text or JSON (-j)",
	Level:       "a run is one cell of the matrix of a test; the files have only medians",
	OwnHeadings: regexp.MustCompile(`^&&&&`),
	Recognize: func(h *foreign.Head) bool {
		return h.Has("nvbandwidth.version") || h.Has("nvbandwidth.testcases") || h.Matches(nvbTitle)
	},
	Read: func(in *foreign.Input, out *foreign.Output) error {
		if in.Head.HasAny("nvbandwidth.version", "nvbandwidth.testcases") {
			return readNVBandwidthJSON(in, out)
		}
		return readNVBandwidthText(in, out)
	},
}

var (
	nvbTitle   = regexp.MustCompile(`(?m)^(?:\[\d+,\d+\]<stdout>: ?| *\d{1,6}: )?nvbandwidth Version: *(\S+)`)
	nvbRunning = regexp.MustCompile(`^Running (\S+?)\.?$`)
	nvbDevice  = regexp.MustCompile(`^(?:Process \d+ \((\S+)\): device |Device )?\d+: (.+?)(?: \([0-9A-Fa-f:.]+\))?(?:: \((\S+)\))?$`)
	nvbUnit    = regexp.MustCompile(`\((GB/s|ns)\)\s*$`)
	nvbPart    = regexp.MustCompile(`\b(?:(?:Read|Write)([12])|(Total)) bandwidth`)
	nvbEnded   = regexp.MustCompile(`^(?i:(error|not found)): *(.*)$`)
)

// nvbMachine is where the tests ran.
type nvbMachine struct{ env schema.Env }

// device adds a GPU: "Device 0: NAME (bus id)".
func (n *nvbMachine) device(text string) bool {
	m := nvbDevice.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	switch host := m[1] + m[3]; {
	case host == "":
	case n.env.Hostname == "":
		n.host(host)
	case host != n.env.Hostname:
		n.env.Machine = "" // not one
	}
	count := int64(1)
	if n.env.GPUCount != nil {
		count += *n.env.GPUCount
	}
	if count > 1 && m[2] != n.env.GPUName {
		n.env.GPUName = "" // not one name for all
	} else {
		n.env.GPUName = m[2]
	}
	n.env.GPUCount = &count
	return true
}

func (n *nvbMachine) host(name string) {
	n.env.Hostname = name
	if name != "localhost" {
		n.env.Machine = name
	}
}

// nvbMatrix is a matrix of a test.
type nvbMatrix struct {
	test, description string
	part              string // of a test that copies both ways: 1, 2, total
}

// nvbCell is a cell of a matrix.
type nvbCell struct {
	*nvbMatrix
	where, row, column, text string
}

// cell yields the run of a cell. For combinations that cannot be measured, the tool writes N/A, or 0 in its first
// versions.
func (n *nvbMachine) cell(out *foreign.Output, c nvbCell) error {
	value := foreign.Number(c.text)
	v := value.Float64()
	if strings.EqualFold(c.text, "N/A") || v != nil && *v == 0 {
		out.LeaveOutNamed("cells without a value", c.test+" "+c.row+"→"+c.column)
		return nil
	}
	if v == nil {
		out.Refuse(c.where, fmt.Errorf("%q is not a number", c.text))
		return nil
	}
	r := n.run(c.test)
	foreign.SetParam(&r, "row", c.row)
	foreign.SetParam(&r, "column", c.column)
	foreign.SetParam(&r, "part", c.part)
	metric, unit := "bandwidth", "GB/s"
	if u := nvbUnit.FindStringSubmatch(c.description); u != nil && u[1] == "ns" {
		metric, unit = "latency", "ns"
	}
	foreign.Add(&r, foreign.Aggregate(metric, unit, schema.Summary{P50: value.Finite(unit)}), unit)
	return out.Run(c.where, r)
}

func (n *nvbMachine) run(test string) schema.Run {
	return schema.Run{Benchmark: "nvbandwidth/" + test, Env: n.env}
}

// nvbReader reads text.
type nvbReader struct {
	nvbMachine
	out     *foreign.Output
	matrix  nvbMatrix
	columns []string // nil outside of a matrix
	last    string   // the last line that was not empty
}

func readNVBandwidthText(in *foreign.Input, out *foreign.Output) error {
	n := &nvbReader{out: out}
	return in.EachLine(func(number int, text string) error {
		text = strings.TrimSpace(foreign.Unlaunched(text))
		err := n.line(fmt.Sprintf("line %d", number), text)
		if text != "" {
			n.last = text
		}
		return err
	})
}

func (n *nvbReader) line(where, text string) error {
	if m := nvbTitle.FindStringSubmatch(text); m != nil { // the next launch, maybe on another machine
		n.nvbMachine, n.matrix, n.columns, n.last = nvbMachine{}, nvbMatrix{}, nil, ""
		n.out.Version(m[1])
		return nil
	}
	switch {
	case text == "" || strings.HasPrefix(text, "SUM ") || strings.HasPrefix(text, "&&&& PERF"):
		n.columns = nil
		return nil
	case n.matrix.description != "" && n.columns == nil && strings.HasPrefix(text, "0"):
		n.columns = strings.Fields(text)
		return nil
	case n.columns != nil:
		return n.row(where, text)
	}
	if m := nvbRunning.FindStringSubmatch(text); m != nil {
		n.matrix = nvbMatrix{test: m[1]}
		return nil
	}
	if m := nvbEnded.FindStringSubmatch(text); m != nil && n.matrix.test != "" {
		r := n.run(n.matrix.test)
		r.Status, r.Error = schema.StatusError, m[2]
		return n.out.Run(where, r)
	}
	switch {
	case strings.HasPrefix(text, "Waived"):
		n.out.LeaveOut("waived tests, which the output does not name", 1)
	case n.matrix.test != "":
		n.describe(text)
	default:
		n.fact(text)
	}
	return nil
}

// describe reads the line above a matrix.
func (n *nvbReader) describe(text string) {
	if !strings.Contains(text, "(column)") && !nvbUnit.MatchString(text) && !strings.HasSuffix(text, " BW") {
		return
	}
	n.matrix.description, n.matrix.part = text, ""
	if m := nvbPart.FindStringSubmatch(text); m != nil {
		n.matrix.part = m[1] + strings.ToLower(m[2])
	}
}

// fact reads a line before the first test.
func (n *nvbReader) fact(text string) {
	first := n.env.GPUCount == nil
	if (strings.HasPrefix(text, "Device ") || strings.HasPrefix(text, "Process ")) && n.device(text) {
		if first && n.env.Hostname == "" && n.last != "" && !strings.ContainsAny(n.last, ": ") {
			n.host(n.last) // on a line of its own above the devices
		}
		return
	}
	if code, ok := strings.CutPrefix(text, "CUDA Runtime Version: "); ok {
		n.env.CUDAVersion = cudaVersion(foreign.Number(code))
	} else if version, ok := strings.CutPrefix(text, "Driver Version: "); ok {
		n.env.DriverVersion = version
	}
}

// row reads a line of a matrix: a name, which may have spaces, and a value for each column.
func (n *nvbReader) row(where, text string) error {
	fields := strings.Fields(text)
	at := len(fields) - len(n.columns)
	if at < 1 {
		n.out.Refuse(where, fmt.Errorf("%d values, but the matrix has %d columns", len(fields)-1, len(n.columns)))
		return nil
	}
	for i, value := range fields[at:] {
		if err := n.cell(n.out, nvbCell{&n.matrix, where, strings.Join(fields[:at], " "), n.columns[i], value}); err != nil {
			return err
		}
	}
	return nil
}

// nvbTest is a test in the JSON.
type nvbTest struct {
	Name        string           `json:"name"`
	Status      string           `json:"status"`
	Error       string           `json:"error"`
	Description string           `json:"bandwidth_description"`
	Matrix      [][]foreign.Text `json:"bandwidth_matrix"`
}

// readNVBandwidthJSON reads JSON, whose members are sorted by name: devices and CUDA versions come before the tests, and
// the version of the tool after them.
func readNVBandwidthJSON(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	var n nvbMachine
	text := func(set func(text string)) func() error {
		return func() error {
			var text foreign.Text
			err := j.Decode(&text)
			set(string(text))
			return err
		}
	}
	devices := func() error {
		var devices []string
		err := j.Decode(&devices)
		for _, d := range devices {
			n.device(d)
		}
		return err
	}
	members := fields{
		"testcases":       array(j, out, func(where string, t *nvbTest) error { return n.test(where, t, out) }),
		"GPU Device list": devices, "GPU Device info": devices,
		"CUDA Runtime Version": text(func(code string) { n.env.CUDAVersion = cudaVersion(foreign.Number(code)) }),
		"Driver Version":       text(func(version string) { n.env.DriverVersion = version }),
		"version":              text(out.Version),
		"error":                text(func(why string) { out.Refuse(j.Where(), fmt.Errorf("the tool ended: %s", why)) }),
	}
	return fields{"nvbandwidth": func() error { return members.read(j, out) }}.read(j, out)
}

func (n *nvbMachine) test(where string, t *nvbTest, out *foreign.Output) error {
	r := n.run(t.Name)
	switch {
	case t.Name == "":
		return refusal(where, "a test without name")
	case strings.EqualFold(t.Status, "waived"):
		r.Status = schema.StatusUnsupported
	case t.Error != "" || len(t.Matrix) == 0:
		r.Status, r.Error = schema.StatusError, cmp.Or(t.Error, t.Status)
	default:
		return n.matrix(t, where, out)
	}
	return out.Run(where, r)
}

// matrix yields the cells of a test. A test that copies in both directions has three matrices, one below the other; the
// last one, the total, gives its name to all.
func (n *nvbMachine) matrix(t *nvbTest, where string, out *foreign.Output) error {
	parts := []string{""}
	if part := nvbPart.FindStringSubmatch(t.Description); part != nil && part[2] != "" && len(t.Matrix)%3 == 0 {
		parts = []string{"1", "2", "total"}
	}
	rows := len(t.Matrix) / len(parts)
	for i, row := range t.Matrix {
		m := nvbMatrix{test: t.Name, description: t.Description, part: parts[i/rows]}
		for k, value := range row {
			at := fmt.Sprintf("%s/bandwidth_matrix/%d/%d", where, i, k)
			cell := nvbCell{&m, at, fmt.Sprint(i % rows), fmt.Sprint(k), string(value)}
			if err := n.cell(out, cell); err != nil {
				return err
			}
		}
	}
	return nil
}
