package formats

import (
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// add adds the value of a variable. A test that failed earlier has none.
func (v *reframeVariable) add(r *schema.Run) {
	name := foreign.MetricName(v.Name)
	if v.Value == "" || name == "" || r.Metric(name) != nil {
		return
	}
	unit := reframeUnit(v.Unit)
	s, err := foreign.SeriesOf([]foreign.Number{v.Value}, unit)
	if err != nil {
		return // what is no number is no value
	}
	m := s.Metric(name, schema.LevelProcess)
	kind, known := schema.KindOfMetric(name)
	if _, _, isUnit := schema.StoredUnit(m.Unit); known && isUnit && kind.Unit != "" && kind.Unit != m.Unit {
		known = false // another quantity with that name
	}
	if !known {
		m.Better = v.better(m.Unit)
	}
	foreign.Add(r, m, unit)
}

// reframeUnit translates a unit to a known spelling, if there is one.
func reframeUnit(text string) string {
	text = strings.TrimSpace(text)
	for _, spelling := range []string{text, reframeUnits[strings.ToLower(text)]} {
		if _, _, known := schema.StoredUnit(spelling); known {
			return spelling
		}
	}
	return text
}

// reframeUnits are other spellings in lower case.
var reframeUnits = map[string]string{
	"sec": "s", "secs": "s", "second": "s", "seconds": "s", "usec": "us", "msec": "ms", "nsec": "ns", "gb/sec": "GB/s", "mb/sec": "MB/s", "kb/sec": "kB/s",
	"bytes/s": "B/s", "kbytes/s": "kB/s", "mbytes/s": "MB/s", "gbytes/s": "GB/s", "bytes/sec": "B/s", "kbytes/sec": "kB/s", "mbytes/sec": "MB/s", "gbytes/sec": "GB/s",
	"gb/s": "GB/s", "mb/s": "MB/s", "gflops": "Gflop/s", "gflop/s": "Gflop/s", "gflops/s": "Gflop/s", "tflops": "Tflop/s", "tflop/s": "Tflop/s",
	"percent": "%", "us": "us", "ms": "ms", "ns": "ns", "b/s": "B/s",
}

// better is the direction: the one that is left open if only one bound is set, or else that of the unit.
func (v *reframeVariable) better(unit string) schema.Better {
	lower, upper := bound(v.Lower), bound(v.Upper)
	switch {
	case lower && !upper:
		return schema.BetterHigher
	case upper && !lower:
		return schema.BetterLower
	case unit == "ns" || unit == "mJ":
		return schema.BetterLower
	case unit == "B/s" || unit == "flop/s" || unit == "1/s":
		return schema.BetterHigher
	}
	return ""
}

func bound(text foreign.Text) bool { return text != "" && text != "null" && text != "None" }
