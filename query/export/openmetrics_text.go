package export

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Names of families. Those of metrics begin with medianFamily, so that no metric has the name of another family.
const (
	medianFamily  = "neurolens_median_"
	samplesFamily = "neurolens_run_samples"
	startFamily   = "neurolens_run_start_timestamp_seconds"
	infoFamily    = "neurolens_run_info"
	statusFamily  = "neurolens_run_status"
)

// openMetricsText returns points as OpenMetrics text, version 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/), and the number of
// lines with a value. A value that is unknown has no line.
//
// Every family is a gauge, and no line has a timestamp, because the textfile collector of Prometheus refuses a file with the types info and
// stateset, which its older format lacks, and a file with timestamps. So the start of a run is a value of its own. The commit is a label of
// neurolens_run_info alone: in the other families it would begin new series with each commit.
func openMetricsText(points []*pointResult) (text []byte, rows int64) {
	nameParams(points)
	all := families{}
	for _, p := range points {
		if p.lastStatus != "" {
			all.add(statusFamily, family{help: "1 for the status of the newest run"}, p, "", 1, label{name: "status", value: p.lastStatus})
		}
		if p.run == "" {
			continue
		}
		info := []label{{name: "point", value: p.pointID}, {name: "run", value: p.run}}
		if p.commit != "" {
			info = append(info, label{name: "commit", value: p.commit})
		}
		all.add(infoFamily, family{help: "1 for the newest ok run, which has the medians"}, p, "", 1, info...)
		if !p.startedAt.IsZero() {
			all.add(startFamily, family{help: "when the newest ok run started", unit: "seconds"}, p, "", float64(p.startedAt.UnixMicro())/1e6)
		}
		for _, m := range p.metrics {
			all.addMetric(p, m)
		}
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		all[name].write(&b, name)
		rows += int64(len(all[name].lines))
	}
	b.WriteString("# EOF\n")
	return b.Bytes(), rows
}

// family is a family of series of one name.
type family struct {
	help, unit string
	lines      []string
	written    map[string]bool // the series that have a line
}

func (f *family) write(b *bytes.Buffer, name string) {
	fmt.Fprintf(b, "# TYPE %s gauge\n", name)
	if f.unit != "" {
		fmt.Fprintf(b, "# UNIT %s %s\n", name, f.unit)
	}
	fmt.Fprintf(b, "# HELP %s %s\n", name, escaped.Replace(f.help))
	for _, line := range f.lines {
		b.WriteString(line)
	}
}

// families are families by name.
type families map[string]*family

// addMetric adds the median of a metric and the number of its samples.
func (f families) addMetric(p *pointResult, m metricResult) {
	if m.n != nil {
		about := family{help: "number of samples of a metric in the newest ok run"}
		f.add(samplesFamily, about, p, "", float64(*m.n), label{name: "metric", value: m.name})
	}
	if m.median == nil {
		return
	}
	base, exponent := m.unit, 0
	for _, u := range siUnits {
		if u.stored == m.unit {
			base, exponent = u.si, u.exponent
		}
	}
	about := family{help: "median of " + m.name, unit: unitWord(base)}
	if kind, ok := schema.KindOfMetric(m.name); ok {
		about.help += ", " + kind.Meaning
	}
	name := medianFamily + notInNames.ReplaceAllString(m.name, "_")
	if about.unit != "" && !strings.HasSuffix(name, "_"+about.unit) {
		name += "_" + about.unit
	}
	value := *m.median * math.Pow10(exponent)
	if exponent < 0 { // division by an exact power rounds once
		value = *m.median / math.Pow10(-exponent)
	}
	f.add(name, about, p, m.name, value)
}

// add adds the value of a point to a family. If two stored names have become the name of one series, the labels metric and point tell the second
// one apart, because no series may be there twice.
func (f families) add(name string, about family, p *pointResult, metric string, value float64, more ...label) {
	if f[name] == nil {
		about.written = map[string]bool{}
		f[name] = &about
	}
	labels := slices.Concat(p.labels, more)
	series := seriesOf(name, labels)
	if f[name].written[series] {
		if metric != "" {
			labels = append(labels, label{name: "metric", value: metric})
		}
		series = seriesOf(name, append(labels, label{name: "point", value: p.pointID}))
	}
	f[name].written[series] = true
	f[name].lines = append(f[name].lines, series+" "+openMetricsNumber(value)+"\n")
}

// label is a label of a series.
type label struct {
	name, value string
	param       bool // it is a parameter, which can have any name
}

// escaped escapes a text of a label or of HELP.
var escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// seriesOf returns the name of a series with its labels. A label without a value is no label.
func seriesOf(name string, labels []label) string {
	var pairs []string
	for _, l := range labels {
		if l.value != "" {
			pairs = append(pairs, l.name+`="`+escaped.Replace(l.value)+`"`)
		}
	}
	if len(pairs) == 0 {
		return name
	}
	return name + "{" + strings.Join(pairs, ",") + "}"
}

// openMetricsNumber returns a number with all its digits.
func openMetricsNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// unitWords are the words for units in names of metrics.
var unitWords = map[string]string{"s": "seconds", "B": "bytes", "J": "joules", "W": "watts", "Hz": "hertz", "Cel": "celsius", "1": ""}

// unitWord returns a unit as a word of names: bytes_per_second for B/s, per_second for 1/s.
func unitWord(unit string) string {
	of, per, rate := strings.Cut(unit, "/")
	word, known := unitWords[of]
	if !known {
		word = notInNames.ReplaceAllString(of, "_")
	}
	if !rate {
		return word
	}
	singular := strings.TrimSuffix(cmp.Or(unitWords[per], notInNames.ReplaceAllString(per, "_")), "s")
	return strings.TrimPrefix(word+"_per_"+singular, "_")
}

// notInNames matches what names of metrics and labels do not have.
var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_]`)

// nameParams gives the labels of parameters valid names: a parameter has its own name, with _ in place of other characters. If another label
// has that name, or names may not begin so, it is param_NAME, with a number if another parameter has become that.
func nameParams(points []*pointResult) {
	names := map[string]string{}
	for _, p := range points {
		for _, l := range p.labels {
			if l.param {
				names[l.name] = ""
			}
		}
	}
	taken := map[string]bool{"metric": true, "point": true, "run": true, "commit": true, "status": true}
	for _, name := range query.Identity {
		taken[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		as := notInNames.ReplaceAllString(name, "_")
		if taken[as] || as == "" || strings.HasPrefix(as, "__") || '0' <= as[0] && as[0] <= '9' {
			as = "param_" + as
		}
		valid := as
		for n := 2; taken[valid]; n++ {
			valid = as + "_" + strconv.Itoa(n)
		}
		names[name], taken[valid] = valid, true
	}
	for _, p := range points {
		for i, l := range p.labels {
			if l.param {
				p.labels[i].name = names[l.name]
			}
		}
	}
}
