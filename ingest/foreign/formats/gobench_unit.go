package formats

import (
	"math"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// goUnit is what a unit of Go benchmarks measures.
type goUnit struct {
	metric  string
	unit    string // as NeuroLens knows it
	given   string
	point   int  // the power of ten that makes the stored unit of it
	decimal bool // there is one
	better  schema.Better
}

// maxGoKnownUnits is how many units are remembered.
const maxGoKnownUnits = 10_000

// unit is what a unit measures.
func (p *goParser) unit(name string) *goUnit {
	if u := p.units[name]; u != nil {
		return u
	}
	if p.units == nil || len(p.units) >= maxGoKnownUnits {
		p.units = map[string]*goUnit{}
	}
	u := goUnitOf(strings.ToValidUTF8(name, "�"))
	p.units[name] = &u
	return &u
}

// knows reports whether a unit is one that go test itself prints, or came before.
func (p *goParser) knows(unit []byte) bool {
	switch string(unit) {
	case "ns/op", "MB/s", "B/op", "allocs/op":
		return true
	}
	return p.units[string(unit)] != nil
}

// goUnitOf names the metrics that go test itself prints. Any other is called by its unit, as its users do.
func goUnitOf(name string) goUnit {
	u := goUnit{metric: foreign.MetricName(name), unit: goBaseUnit(name), given: name}
	switch name {
	case "ns/op", "sec/op", "s/op":
		u.metric = "latency"
	case "MB/s", "B/s":
		u.metric, u.unit = "bandwidth", name
	default:
		if u.metric == "latency" || u.metric == "bandwidth" {
			u.metric = "custom." + u.metric
		}
	}
	stored, factor, _ := schema.StoredUnit(u.unit)
	u.point = int(math.Round(math.Log10(factor)))
	u.decimal = math.Pow10(u.point) == factor
	switch {
	case strings.HasSuffix(name, "/s"), strings.HasSuffix(name, "/sec"):
		u.better = schema.BetterHigher
	case strings.HasSuffix(name, "/op"), stored == "ns":
		u.better = schema.BetterLower
	}
	return u
}

// goBaseUnit is the unit that a name has above its line: p99-ns is in ns, B/op in B. Any other name, and any rate, is a
// unit itself.
func goBaseUnit(name string) string {
	above, below, _ := strings.Cut(name, "/")
	if below == "s" || below == "sec" {
		return name
	}
	switch above[strings.LastIndexByte(above, '-')+1:] {
	case "ns":
		return "ns"
	case "sec":
		return "s"
	case "B", "bytes":
		return "B"
	case "MB":
		return "MB"
	}
	return name
}

// setUnit takes a line that says more of a unit: Unit text-bytes better=lower assume=exact.
func (p *goParser) setUnit(text string) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return
	}
	for _, word := range words[1:] {
		switch word {
		case "better=lower":
			p.unit(words[0]).better = schema.BetterLower
		case "better=higher":
			p.unit(words[0]).better = schema.BetterHigher
		}
	}
}
