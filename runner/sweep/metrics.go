package sweep

import (
	"slices"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/schema"
)

// maxMetrics bounds the metrics that a sweep has read.
const maxMetrics = 100

// metricKeys are the keys of an entry of metrics.
var metricKeys = []Key{
	{Name: "from", Value: textValue, Default: output.Stdout, Doc: "Where to find the number: stdout, stderr, or a file that each process writes. {axis} is filled in."},
	{Name: "regex", Value: textValue, Doc: "A regular expression (RE2) for a line. The number is its first group, or the whole match."},
	{Name: "jq", Value: textValue, Doc: "A jq program that finds the number in JSON."},
	{Name: "read", Value: textValue, Doc: "The format of a benchmark tool's results, with a name that ingest --from takes. Each result becomes a run."},
	{Name: "unit", Value: textValue, Doc: "The unit of the number. Default: the stored unit, for the metrics that NeuroLens knows."},
	{Name: "better", Value: oneOf(string(schema.BetterLower), string(schema.BetterHigher)), Doc: "Which values are better: lower or higher."},
	{Name: "take", Value: oneOf(output.Takes...), Default: output.TakeOnly, Doc: "Which matches count if there are several. only: more than one is an error."},
	{Name: "optional", Value: switchValue, Default: "false", Doc: "If the metric cannot be read, store NULL with the reason. Without this, the run is an error."},
}

// readings are the keys of an entry that say how it is read; there is one of them.
var readings = []string{"regex", "jq", "read"}

// metric is an entry of metrics.
type metric struct {
	rule output.ExtractRule
	from template
	at   field // of read
}

// readMetrics reads the metrics that stand in outputs.
func (p *program) readMetrics(d *document) error {
	f := d.keys["metrics"]
	if !f.given() {
		return nil
	}
	members, err := f.members("metrics.")
	if err != nil {
		return err
	}
	switch {
	case len(members) == 0:
		return f.errorf("is empty")
	case len(members) > maxMetrics:
		return f.errorf("more than %d metrics", maxMetrics)
	}
	for _, m := range members {
		metric, err := p.readMetric(d, m)
		if err != nil {
			return err
		}
		p.metrics = append(p.metrics, metric)
	}
	d.request("metrics", f)
	return nil
}

// readMetric reads one entry.
func (p *program) readMetric(d *document, m member) (metric, error) {
	read := metric{rule: output.ExtractRule{Name: m.key, From: output.Stdout}, from: template{parts: []part{{output.Stdout, -1}}}}
	values, err := m.value.known(m.value.what+".", keyNames(metricKeys))
	if err != nil {
		return metric{}, err
	}
	if err := output.CheckMetricName(m.key); err != nil {
		return metric{}, m.value.errorf("%v", err)
	}
	r := &read.rule
	var better string
	for _, k := range metricKeys {
		to := map[string]any{
			"from": &r.From, "regex": &r.Regex, "jq": &r.JQ, "read": &r.Read, "unit": &r.Unit, "better": &better, "take": &r.Take, "optional": &r.Optional,
		}[k.Name]
		if f := values[k.Name]; f.given() {
			if err := k.Value.read(f, to); err != nil {
				return metric{}, err
			}
		}
	}
	r.Better = schema.Better(better)
	if f := values["from"]; f.given() {
		if read.from, err = f.template(p.scope); err != nil {
			return metric{}, err
		}
	}
	if read.at = values["read"]; read.at.given() {
		return read, checkRead(m.value, values, d.over.Formats)
	}
	return read, checkMetric(m.value, values, r)
}

// checkMetric refuses what no output can be read by.
func checkMetric(entry field, values map[string]field, r *output.ExtractRule) error {
	regex, jq := values["regex"], values["jq"]
	switch {
	case !regex.given() && !jq.given() && (values["unit"].given() || values["better"].given()):
		return entry.errorf("want regex, jq or read; a metric that a Python function returns has its unit and direction there: {value: 1.5, unit: ms, better: lower}")
	case !regex.given() && !jq.given():
		return entry.errorf("want regex, jq or read")
	case regex.given() && jq.given():
		return jq.errorf("cannot be combined with regex (line %d): use one of them", regex.line)
	}
	for _, c := range []struct {
		at  field
		err func() error
	}{
		{regex, func() error { return output.CheckRegex(r.Regex) }},
		{jq, func() error { return output.CheckJQ(r.JQ) }},
		{values["unit"], r.CheckUnit},
		{values["better"], r.CheckBetter},
	} {
		if !c.at.given() {
			continue
		}
		if err := c.err(); err != nil {
			return c.at.errorf("%v", err)
		}
	}
	return nil
}

// checkRead refuses what means nothing for the results of a tool, and formats that nobody reads.
func checkRead(entry field, values map[string]field, formats []string) error {
	read := values["read"]
	for _, key := range []string{"regex", "jq", "unit", "better", "take"} {
		if f := values[key]; f.given() {
			return f.errorf("not supported with read: the results contain it")
		}
	}
	if formats == nil || slices.Contains(formats, read.Value) {
		return nil
	}
	if near := schema.Nearest(read.Value, formats); near != "" {
		return read.errorf("unknown format %s: did you mean %s?", shorten(read.Value), near)
	}
	return read.errorf("unknown format %s: neurolens ingest --list-formats lists all", shorten(read.Value))
}

// launchOnce makes the runs of a point whose output has results of one process each.
func (m *metric) launchOnce(point *Point) error {
	switch {
	case point.Executor != schema.ExecutorCommand:
		return m.at.errorf("not supported with %s: only with command", listed([]schema.Executor{point.Executor}))
	case point.Iterations > 1:
		return m.at.errorf("a run reads the results of one process: want iterations: 1, got %d; use repeats for more runs", point.Iterations)
	}
	if point.Iterations = 1; point.WarmupOnce {
		point.Warmup, point.WarmupOnce = 0, false
	}
	return nil
}

// fillMetrics sets the metrics of a point, unless it runs nothing with outputs.
func (p *program) fillMetrics(point *Point, row []*value) error {
	if len(p.metrics) == 0 || !keyOf("metrics").takes(point.Executor) {
		return nil
	}
	for i := range p.metrics {
		if m := &p.metrics[i]; m.at.given() {
			if err := m.launchOnce(point); err != nil {
				return err
			}
		}
	}
	if p.sharedMetrics != nil {
		point.Metrics = p.sharedMetrics
		return nil
	}
	for _, m := range p.metrics {
		rule := m.rule
		var err error
		if rule.From, err = m.from.fillPath(row); err != nil {
			return err
		}
		*p.size += len(rule.From) + 128
		point.Metrics = append(point.Metrics, rule)
	}
	if !slices.ContainsFunc(p.metrics, func(m metric) bool { return !m.from.fixed() }) {
		p.sharedMetrics = point.Metrics
	}
	return nil
}

// metricsText is what is read of outputs, as canonical JSON.
func metricsText(p *Point) string {
	if len(p.Metrics) == 0 {
		return ""
	}
	all := map[string]any{}
	for _, m := range p.Metrics {
		entry := map[string]any{"from": m.From}
		for key, text := range map[string]string{
			"regex": m.Regex, "jq": m.JQ, "read": m.Read, "unit": m.Unit, "better": string(m.Better), "take": m.Take,
		} {
			if text != "" {
				entry[key] = text
			}
		}
		if m.Optional {
			entry["optional"] = true
		}
		all[m.Name] = entry
	}
	text, _ := schema.CanonicalJSON(all) // maps of texts always have one
	return text
}
