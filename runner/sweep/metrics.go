package sweep

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/expression"
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

// readings are the keys of an entry that define how it is read. Exactly one must be set.
var readings = []string{"regex", "jq", "read"}

// metric is an entry of metrics.
type metric struct {
	rule output.ExtractRule
	from template
	at   field // of read
}

// readMetrics reads the definitions of the metrics in outputs.
func (p *program) readMetrics(d *document, f field) {
	members := f.someMembers("metrics.")
	if len(members) > maxMetrics {
		panic(f.errorf("more than %d metrics", maxMetrics))
	}
	for _, m := range members {
		p.metrics = append(p.metrics, p.readMetric(d, m))
	}
}

// readMetric reads one entry.
func (p *program) readMetric(d *document, m member) metric {
	read := metric{rule: output.ExtractRule{Name: m.key, From: output.Stdout}, from: template{parts: []part{{output.Stdout, -1}}}}
	values := m.value.known(m.value.what+".", keyNames(metricKeys))
	if err := output.CheckMetricName(m.key); err != nil {
		panic(m.value.errorf("%v", err))
	}
	r := &read.rule
	var better string
	for _, k := range metricKeys {
		to := map[string]any{
			"from": &r.From, "regex": &r.Regex, "jq": &r.JQ, "read": &r.Read, "unit": &r.Unit, "better": &better, "take": &r.Take, "optional": &r.Optional,
		}[k.Name]
		k.Value.read(values[k.Name], to)
	}
	r.Better = schema.Better(better)
	if f := values["from"]; f.given() {
		read.from = f.template(p.scope)
	}
	if read.at = values["read"]; read.at.given() {
		checkRead(values, d.over.Formats)
		return read
	}
	checkMetric(m.value, values, r)
	return read
}

// checkMetric refuses rules by which no output can be read.
func checkMetric(entry field, values map[string]field, r *output.ExtractRule) {
	regex, jq := values["regex"], values["jq"]
	switch {
	case !regex.given() && !jq.given() && (values["unit"].given() || values["better"].given()):
		panic(entry.errorf("want regex, jq or read; a metric that a Python function returns has its unit and direction there: {value: 1.5, unit: ms, better: lower}"))
	case !regex.given() && !jq.given():
		panic(entry.errorf("want regex, jq or read"))
	case regex.given() && jq.given():
		panic(jq.errorf("cannot be combined with regex (line %d): use one of them", regex.line))
	}
	for _, c := range []struct {
		at  field
		err error
	}{
		{regex, output.CheckRegex(r.Regex)}, {jq, output.CheckJQ(r.JQ)}, {values["unit"], r.CheckUnit()}, {values["better"], r.CheckBetter()},
	} {
		if c.at.given() && c.err != nil {
			panic(c.at.errorf("%v", c.err))
		}
	}
}

// checkRead refuses keys without a meaning for the results of a tool, and unknown formats.
func checkRead(values map[string]field, formats []string) {
	read := values["read"]
	for _, key := range []string{"regex", "jq", "unit", "better", "take"} {
		if f := values[key]; f.given() {
			panic(f.errorf("not supported with read: the results contain it"))
		}
	}
	if formats == nil || slices.Contains(formats, read.Value) {
		return
	}
	if near := schema.Nearest(read.Value, formats); near != "" {
		panic(read.errorf("unknown format %s: did you mean %s?", shorten(read.Value), near))
	}
	panic(read.errorf("unknown format %s: neurolens ingest --list-formats lists all", shorten(read.Value)))
}

// launchOnce reduces the runs of a point to one process each, if its output is a result file of one process.
func (m *metric) launchOnce(point *Point) {
	switch {
	case point.Executor != schema.ExecutorCommand:
		panic(m.at.errorf("not supported with %s: only with command", listed([]schema.Executor{point.Executor})))
	case point.Iterations > 1:
		panic(m.at.errorf("a run reads the results of one process: want iterations: 1, got %d; use repeats for more runs", point.Iterations))
	}
	if point.Iterations = 1; point.WarmupOnce {
		point.Warmup, point.WarmupOnce = 0, false
	}
}

// fillMetrics sets the metrics of a point, unless it runs nothing with outputs.
func (p *program) fillMetrics(point *Point, row []*value) {
	if len(p.metrics) == 0 || !keyOf("metrics").takes(point.Executor) {
		return
	}
	for i := range p.metrics {
		if m := &p.metrics[i]; m.at.given() {
			m.launchOnce(point)
		}
	}
	if p.sharedMetrics != nil {
		point.Metrics = p.sharedMetrics
		return
	}
	for _, m := range p.metrics {
		rule := m.rule
		rule.From = m.from.fillPath(row)
		*p.size += len(rule.From) + 128
		point.Metrics = append(point.Metrics, rule)
	}
	if !slices.ContainsFunc(p.metrics, func(m metric) bool { return !m.from.fixed() }) {
		p.sharedMetrics = point.Metrics
	}
}

// metricsText returns the rules by which metrics are read from outputs, as canonical JSON.
func metricsText(p *Point) string {
	var rules map[string]output.ExtractRule
	for _, m := range p.Metrics {
		if rules == nil {
			rules = map[string]output.ExtractRule{}
		}
		name := m.Name
		m.Name = ""
		rules[name] = m
	}
	return asJSON(rules)
}

// stdoutWord stands for standard output in place of a file.
const stdoutWord = "stdout"

// keepWord is the value of output for a standard output that is kept with the run.
const keepWord = "keep"

// Output defines where a command writes the numbers that it computes. The numbers of each process of a run count.
type Output struct {
	From   string // stdout, or a file
	Format string // see term.Formats
}

// outputSpec is the parsed key output.
type outputSpec struct {
	from   template
	format string
}

// readStdout reads where standard output goes: the key output, or its option.
func (p *program) readStdout(d *document) {
	f := d.keys["output"]
	to := f
	if f.given() {
		if d.request("output", f); f.Kind == yaml.MappingNode {
			to = f.known("output.", keyNames(outputKeys))["to"]
		}
	}
	if option := d.option("output"); option.given() {
		d.request("output", option)
		to = option.known("", keyNames(outputKeys))["to"]
		to.origin, to.what = option.origin, ""
	}
	p.readOutputTo(to)
}

// readNumbers reads where the numbers that a command computes are found.
func (p *program) readNumbers(d *document) {
	f := d.keys["output"]
	if !f.given() || f.Kind != yaml.MappingNode {
		return
	}
	values := f.known("output.", keyNames(outputKeys))
	if values["to"].given() && len(values) == 1 {
		return
	}
	spec := outputSpec{from: template{parts: []part{{stdoutWord, -1}}}, format: "text"}
	if from := values["from"]; from.given() {
		from.text()
		spec.from = from.template(p.scope)
	}
	if read := values["read"]; read.given() {
		spec.format = read.oneOf(output.Formats)
	}
	p.output = &spec
}

// readOutputTo reads where standard output goes.
func (p *program) readOutputTo(f field) {
	if !f.given() {
		return
	}
	if f.ShortTag() == "!!null" {
		p.around.stdout = &template{parts: []part{{os.DevNull, -1}}, at: f}
		return
	}
	read := f.text
	if isBinary(f.Node) {
		read = f.argument
	}
	text := read()
	if text == stdoutWord {
		panic(f.errorf("want null, keep or a file, got stdout: to read numbers from standard output, write {from: stdout}"))
	}
	if p.around.keep = text == keepWord; p.around.keep {
		return
	}
	if near := schema.Nearest(text, []string{keepWord, "null"}); near != "" && !strings.ContainsAny(text, "/.{") {
		panic(f.errorf("did you mean %s? For a file of that name, write ./%s", near, text))
	}
	p.around.stdout = new(f.parse(text, p.scope))
}

// checkOutput refuses a standard output that goes elsewhere, and that the sweep reads or keeps.
func (p *program) checkOutput(point *Point) {
	if point.Stdout == "" {
		return
	}
	reads := ""
	for i := range point.Metrics {
		if point.Metrics[i].From == stdoutWord {
			reads = "metric " + point.Metrics[i].Name
		}
	}
	switch {
	case point.Output != nil && point.Output.From == stdoutWord:
		reads = "output.from"
	case point.Artifacts != nil && slices.Contains(point.Artifacts.Files, Stdout):
		reads = "artifacts"
	}
	if reads == "" {
		return
	}
	panic(p.around.stdout.at.errorf("standard output goes to %s, but %s reads standard output: name the file there, or remove this", shorten(point.Stdout), reads))
}

// RunDir is the placeholder for the private directory of each run. The directory is empty when the run begins and is removed after
// it. Only the runner knows its path.
const RunDir = "{" + runDirName + "}"

const runDirName = "run_dir"

// The words of artifacts that are no files.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// defaultArtifactLimit is the size, in B, up to which a file is kept.
const defaultArtifactLimit = 16 << 20

// maxArtifacts bounds the patterns of a sweep.
const maxArtifacts = 100

// Artifacts defines which files of a run are kept.
type Artifacts struct {
	// Files are patterns for the files, filled in: relative to cwd, absolute, or after RunDir; and the words Stdout and Stderr. An empty
	// list means that nothing is kept, not even the output of a failed run.
	Files []string
	Limit int64 // B of one file; larger ones are recorded and not kept
}

// artifactKeys are the keys of artifacts if it is a map.
var artifactKeys = []Key{
	{Name: "files", Value: oneOrMany(0, textValue), Doc: "Patterns of files, folders with everything in them, stdout, stderr. {axis} and {run_dir} are filled in."},
	{Name: "limit", Value: scalarValue, Default: "16MiB", Doc: "The largest size of a file that is kept."},
}

// artifactsKey selects the files of a run that are kept.
var artifactsKey = Key{
	Name: "artifacts", Value: eitherOf(textValue, listOf(0, textValue), Value{Kind: Object, Keys: artifactKeys}),
	Doc: "Files to keep with each run. Default: what a failed run printed. [] keeps nothing.",
}

// artifactsSpec is the parsed key artifacts.
type artifactsSpec struct {
	files  []template
	limit  int64
	shared *Artifacts // where it is the same at every point
}

// readArtifacts reads the key artifacts.
func (p *program) readArtifacts(_ *document, f field) {
	spec := artifactsSpec{limit: defaultArtifactLimit}
	files := f
	if f.Kind == yaml.MappingNode {
		values := f.known("artifacts.", keyNames(artifactKeys))
		if files = values["files"]; !files.given() {
			panic(f.errorf("want files: patterns of files, stdout, stderr"))
		}
		if limit := values["limit"]; limit.given() {
			spec.limit = limit.bytes()
		}
	}
	spec.files = p.readPatterns(files)
	p.artifacts = &spec
}

// readPatterns reads the patterns of files.
func (p *program) readPatterns(f field) (patterns []template) {
	items := f.items()
	if len(items) > maxArtifacts {
		panic(f.errorf("more than %d patterns", maxArtifacts))
	}
	for _, item := range items {
		text := item.text()
		if _, err := filepath.Match(text, ""); err != nil {
			panic(item.errorf("%q is not a valid pattern: a [ is not closed, or it ends with a \\", shorten(text)))
		}
		if strings.Contains(text, "**") {
			panic(item.errorf("** is not supported: name a folder, which stands for all files in it, at any depth"))
		}
		patterns = append(patterns, item.parse(text, p.scope))
	}
	return patterns
}

// bytes returns a size such as 16MiB.
func (f field) bytes() int64 {
	text := f.scalar()
	size, err := expression.ParseAmount(text, "B")
	if err != nil {
		panic(f.errorf("want a size such as 16MiB: %v", err))
	}
	if size < 1 || size > math.MaxInt64/2 || size != math.Trunc(size) {
		panic(f.errorf("want a size of at least 1 B, got %s", shorten(text)))
	}
	return int64(size)
}

// fillArtifacts sets the files of a point's runs that are kept.
func (p *program) fillArtifacts(point *Point, row []*value) {
	spec := p.artifacts
	if spec == nil && point.KeepOutput {
		spec = &artifactsSpec{limit: defaultArtifactLimit}
	}
	if spec == nil {
		return
	}
	if spec.shared != nil {
		point.Artifacts = spec.shared
		return
	}
	kept := &Artifacts{Limit: spec.limit}
	for _, t := range spec.files {
		text := t.fillPath(row)
		kept.Files = append(kept.Files, text)
		*p.size += 16 + len(text)
	}
	for _, word := range []string{Stdout, Stderr} {
		if point.KeepOutput && !slices.Contains(kept.Files, word) {
			kept.Files = append(kept.Files, word)
		}
	}
	point.Artifacts = kept
	if !slices.ContainsFunc(spec.files, func(t template) bool { return !t.fixed() }) {
		spec.shared = kept
	}
}
