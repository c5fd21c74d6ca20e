package sweep

import (
	"fmt"
	"testing"
)

// TestResults: expressions compute in base units, and give stored ones.
func TestResults(t *testing.T) {
	src := "command: [a, '{n}', '{accuracy}']\nparams: {n: 4, accuracy: 1}\n" +
		"metrics: {loss: {regex: 'x(.)'}}\n" +
		"derived:\n" +
		"  speed: {expr: n / time, unit: tok/s, better: higher}\n" +
		"  time: {expr: cpu_user + cpu_system, unit: s, better: lower}\n" +
		"  throughput: {expr: 1 / latency}\n" +
		"  used: {expr: energy / latency, unit: W}\n" +
		"check: ['loss < 0.5 and param.accuracy == 1', metric.accuracy >= 0.8, metric.own > 1]\n"
	p := &parse(t, src, Overrides{}).Points[0]
	metrics := map[string]Measured{
		"cpu_user": {1_008_000, "ns"}, "cpu_system": {1_053_000, "ns"}, "latency": {4e6, "ns"}, "energy": {2000, "mJ"}, "loss": {0.25, ""},
		"accuracy": {0.9, "ratio"}, "own": {3, ""},
	}
	var got []string
	for _, r := range p.Derived {
		value, err := r.Eval(p, metrics)
		got = append(got, fmt.Sprint(r.Name, " ", value, " ", r.Unit, " ", r.Better, " ", err))
		metrics[r.Name] = Measured{value.(float64), r.Unit}
	}
	equal(t, got, []string{
		"time 2.061e+06 ns lower <nil>", "speed 1940.80543425522 tok/s higher <nil>", "throughput 250 1/s higher <nil>", "used 500000 mW  <nil>",
	})
	for _, c := range p.Checks {
		holds, err := c.Eval(p, metrics)
		equal(t, []any{holds, err}, []any{true, error(nil)})
	}
	equal(t, p.Checks[1].Metrics(), []string{"accuracy"})
	_, err := p.Checks[1].Eval(p, nil)
	equal(t, fmt.Sprint(err), "the run has no metric.accuracy")
	equal(t, p.Settings()["check"], `["loss < 0.5 and param.accuracy == 1","metric.accuracy >= 0.8","metric.own > 1"]`)
}

func TestErrorsOfResults(t *testing.T) {
	check := refuses(t, "command: [a]\nmetrics: {loss: {regex: 'x(.)'}}\n")
	check("check: []", "3: check: want 1 to 100 conditions, got 0")
	check("check: los < 1", "3: check: 1:1: unknown name los: did you mean loss?")
	check("check: loss", "3: check: 1:1: want true or false, got a number")
	check("check: [[loss < 1]]", "3: check: want an expression, got a list")
	check("derived: {}", "3: derived: want 1 to 100 metrics, got 0")
	check("derived: {a: 1}", "3: derived.a: want a map, got 1")
	check("derived: {a: {unit: s}}", "3: derived.a: want {expr: EXPRESSION, unit: UNIT}: expr is missing")
	check("derived: {a: {expr: loss}}", "3: derived.a: want a unit: s, B, J, B/s, ratio, or a count such as tok/s")
	check("derived: {a: {expr: loss, unit: ms}}", "3: derived.a.unit: want a unit without a prefix, such as s, B, J, ratio, got ms: expressions compute in units without a prefix, and tables add one")
	check("derived: {bandwidth: {expr: loss, unit: s}}", "3: derived.bandwidth.unit: bandwidth is in B/s, not in s")
	check("derived: {bandwidth: {expr: loss, better: lower}}", "3: derived.bandwidth.better: for bandwidth, higher is better")
	check("derived: {a: {expr: loss, unit: s, better: up}}", `3: derived.a.better: want one of lower higher, got "up"`)
	check("derived: {latency: {expr: loss}}", "3: derived.latency: NeuroLens measures a metric with this name: choose another name")
	check("derived: {a: {expr: b, unit: s}, b: {expr: a, unit: s}}", "3: derived: a depends on itself")
	check("derived: {a: {expr: loss > 1, unit: s}}", "3: derived.a.expr: 1:1: want a number, got true or false")
	check("derived: {a: {expr: max(1, 2), unit: s}}", "3: derived.a: unknown key 2): quote the expression, because YAML ends it at the comma")
	check("primary: 1", "3: primary: want text, got 1: quote it")
}
