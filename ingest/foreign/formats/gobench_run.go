package formats

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// goRun is the benchmark whose lines are being read.
type goRun struct {
	name    []byte // empty before the first one
	heading string // see foreign.Output.Heading
	line    int    // its first
	at      string
	metrics []goMetric // the first used of them
	used    int
	failing bool
	status  schema.Status
	message []byte
}

// goMetric is what the lines have of a metric.
type goMetric struct {
	name       []byte // of the unit
	unit       *goUnit
	values     goSeries
	iterations []int64
}

// result reads a result: the number of iterations, then values with their units. It reports whether the line is one.
func (p *goParser) result(name, rest []byte) (bool, error) {
	first, rest := goWord(rest)
	iterations, ok := goInteger(first)
	if !ok {
		return false, nil
	}
	if err := p.readFields(rest); err != nil || iterations == 0 {
		if iterations == 0 {
			err = fmt.Errorf("0 iterations measure nothing")
		}
		p.out.Refuse(p.where(), err)
		return true, nil
	}
	if !bytes.Equal(name, p.run.name) || p.out.Heading(p.number) != p.run.heading {
		if err := p.begin(name); err != nil {
			return true, err
		}
	}
	p.run.failing = false
	for i := range p.fields {
		f := &p.fields[i]
		m := p.run.metric(i, f)
		m.values.add(f.value)
		m.iterations = append(m.iterations, iterations)
	}
	return true, nil
}

// maxGoUnits is how many values a line may have.
const maxGoUnits = 200

// readFields reads the values of a result.
func (p *goParser) readFields(rest []byte) error {
	p.fields = p.fields[:0]
	same := true // units as in the line before, which are not to be compared with one another
	for i := 0; ; i++ {
		var number []byte
		if number, rest = goWord(rest); number == nil {
			break
		}
		var f goField
		if f.name, rest = goWord(rest); f.name == nil {
			return fmt.Errorf("no unit after %.40q", number)
		}
		if i < len(p.run.metrics) && bytes.Equal(p.run.metrics[i].name, f.name) {
			f.unit = p.run.metrics[i].unit
		} else {
			if p.open && len(bytes.TrimSpace(rest)) == 0 && !p.knows(f.name) {
				return fmt.Errorf("the text is cut off after %.40q, which may be an incomplete unit", f.name)
			}
			f.unit, same = p.unit(string(f.name)), false
		}
		var ok bool
		if f.value, ok = goNumber(number, f.unit); !ok {
			return fmt.Errorf("%.40q is not a number", number)
		}
		if i == maxGoUnits {
			return fmt.Errorf("more than %d values", maxGoUnits)
		}
		p.fields = append(p.fields, f)
	}
	if len(p.fields) == 0 {
		return fmt.Errorf("no value after the iterations")
	}
	for i := 0; i < len(p.fields) && !same; i++ {
		for j := range i {
			if p.fields[i].unit == p.fields[j].unit {
				return fmt.Errorf("unit %.40q appears twice", p.fields[i].name)
			}
		}
	}
	return nil
}

// goWord is the next word of a line; nil at its end.
func goWord(line []byte) (word, rest []byte) {
	start := 0
	for start < len(line) && (line[start] == ' ' || line[start] == '\t') {
		start++
	}
	end := start
	for end < len(line) && line[end] != ' ' && line[end] != '\t' {
		end++
	}
	if start == end {
		return nil, nil
	}
	return line[start:end], line[end:]
}

// goInteger reads a number of iterations.
func goInteger(word []byte) (n int64, ok bool) {
	if len(word) == 0 || len(word) > 18 {
		return 0, false
	}
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

// metric is the metric of a field, which most lines have at the same place; a new one where the lines had none yet.
func (r *goRun) metric(i int, f *goField) *goMetric {
	if i < r.used && r.metrics[i].unit == f.unit {
		return &r.metrics[i]
	}
	for j := range r.metrics[:r.used] {
		if r.metrics[j].unit == f.unit {
			return &r.metrics[j]
		}
	}
	if r.used == len(r.metrics) {
		r.metrics = append(r.metrics, goMetric{})
	}
	m := &r.metrics[r.used]
	r.used++
	m.name, m.unit = append(m.name[:0], f.name...), f.unit
	m.values, m.iterations = goSeries{hint: len(m.iterations)}, m.iterations[:0]
	return m
}

// begin yields the previous run and begins a new one.
func (p *goParser) begin(name []byte) error {
	if err := p.flush(); err != nil {
		return err
	}
	r := &p.run
	r.name, r.line, r.at, r.heading = append(r.name[:0], name...), p.number, p.now, p.out.Heading(p.number)
	return nil
}

// flush yields the run whose lines were read, and clears it.
func (p *goParser) flush() error {
	b := &p.run
	if len(b.name) == 0 {
		return nil
	}
	r := schema.Run{Status: b.status}
	name := strings.ToValidUTF8(string(b.name), "�")
	p.setName(&r, name)
	shares := p.shared.fits(b)
	if shares {
		r.Env, r.StartedAt, r.TimeSource = p.shared.env, p.shared.started, p.shared.timeSource
	} else {
		p.setEnv(&r, b.at)
	}
	if b.status != "" {
		r.Stage, r.Error = schema.StageMeasure, strings.ToValidUTF8(strings.TrimSpace(string(b.message)), "�")
	}
	where := "line " + strconv.Itoa(b.line)
	r.Metrics = make([]schema.Metric, 0, b.used)
	var iterations []int64
	for i := range b.metrics[:b.used] {
		m := &b.metrics[i]
		if !slices.Equal(iterations, m.iterations) { // all lines have the same metrics, mostly
			iterations = slices.Clone(m.iterations)
		}
		metric := goMetricOf(m, iterations)
		if metric.Name == "latency" {
			r.Primary = metric.Name
		}
		if shares {
			r.Metrics = append(r.Metrics, metric)
		} else {
			foreign.Add(&r, metric, m.unit.given)
		}
	}
	if !shares {
		p.share(&r, b)
	}
	b.name, b.used, b.failing, b.status, b.message = b.name[:0], 0, false, "", b.message[:0]
	return p.out.Run(where, r)
}

// goMetricOf is the metric of a unit.
func goMetricOf(m *goMetric, iterations []int64) schema.Metric {
	u := m.unit
	stored, _, _ := schema.StoredUnit(u.unit)
	series := foreign.Series{Unit: stored, Given: u.given, Ticks: m.values.ticks, Reals: m.values.reals}
	metric := series.Metric(u.metric, schema.LevelIteration)
	metric.Better = u.better
	metric.IterationsPerSample = iterationsOf(iterations, series.Len())
	return metric
}
