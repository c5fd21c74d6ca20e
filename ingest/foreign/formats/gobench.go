package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var goBench = foreign.Format{
	Name:        "go-bench",
	About:       "Go benchmarks: text of go test -bench, as benchstat reads it, and the events of go test -json",
	Level:       "a run is a benchmark of a test process, a sample is a result line (-count): the mean of b.N iterations",
	OwnHeadings: regexp.MustCompile(`^#[ \t]|^[a-z]\S*:|^=== (?:RUN|PAUSE|CONT|NAME)\b|^--- (?:BENCH|FAIL|PASS|SKIP)\b|^\*\*\*`),
	Recognize: func(h *foreign.Head) bool {
		return isGoEvents(h) || !h.Matches(goSource) && (h.JSONAt < 0 && h.Matches(goText) || h.JSONAt > 0 && h.Matches(goResult))
	},
	Read: readGoBench,
}

var (
	goResult = regexp.MustCompile(`(?m)^Benchmark(?:[^a-z\s]\S*)?[ \t]+[0-9]+[ \t]+[-+0-9.eEINnaf]+[ \t]+\S+`)
	goText   = regexp.MustCompile(goResult.String() + `|^Benchmark[^a-z\s]\S*[ \t]+(?:--- FAIL: |panic: )|^--- (?:FAIL|SKIP): Benchmark[^a-z]|^(?:PASS\r?\nok|exit status \d+\r?\nFAIL) *\t`)
	goSource = regexp.MustCompile(`(?m)^package [a-z_][A-Za-z0-9_]*\r?$`) // results in it are texts of tests and comments
	goEvent  = regexp.MustCompile(`"Action":"(?:start|run|output|pass|fail|skip|bench|build-output|build-fail)"`)
)

// isGoEvents reports whether a file has the events of go test -json.
func isGoEvents(h *foreign.Head) bool {
	return h.Has("Action") && h.HasAny("Package", "ImportPath", "Output") && h.Matches(goEvent)
}

func readGoBench(in *foreign.Input, out *foreign.Output) error {
	lines := &goLines{r: bufio.NewReaderSize(in.Text(), maxGoLine)}
	if isGoEvents(in.Head) {
		return readGoEvents(in, lines, out)
	}
	p := &goParser{in: in, out: out, procs: goProcsOf(goNames(in.Head.Bytes))}
	err := lines.each(out, func(line []byte) error {
		p.open = lines.open
		return p.line(lines.n, line)
	})
	if err != nil {
		return err
	}
	return p.end()
}

// maxGoLine bounds a line of text, or an event.
const maxGoLine = 256 << 10

var errLongGoLine = fmt.Errorf("a line of more than %d bytes", maxGoLine)

// goLines reads lines without a copy of each.
type goLines struct {
	r    *bufio.Reader
	n    int  // of the line that was read last, from 1
	open bool // it has no end: the text may break off in it
}

func (l *goLines) where() string { return fmt.Sprintf("line %d", l.n) }

// each calls read for each line. A line that is too long is refused.
func (l *goLines) each(out *foreign.Output, read func(line []byte) error) error {
	for {
		line, err := l.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLongGoLine):
			out.Refuse(l.where(), err)
			continue
		case err == nil:
			err = read(line)
		}
		if err != nil {
			return err
		}
	}
}

// next returns the next line, valid until the one after it; io.EOF at the end. One that is too long is errLongGoLine.
func (l *goLines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	l.n++
	if errors.Is(err, bufio.ErrBufferFull) {
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = l.r.ReadSlice('\n')
		}
		if err == nil || errors.Is(err, io.EOF) {
			err = errLongGoLine
		}
		return nil, err
	}
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	line, ended := bytes.CutSuffix(line, []byte("\n"))
	l.open = !ended
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

// goParser reads the lines of test processes, one after the other.
type goParser struct {
	in    *foreign.Input
	out   *foreign.Output
	procs goProcs
	now   string // when the benchmark began, if events contain it

	header map[string]string // goos, goarch, pkg, cpu, and further properties of the environment of a process
	config map[string]string // the other lines of the form key: value
	units  map[string]*goUnit
	run    goRun
	fields []goField // of a line
	number int       // of the line
	open   bool      // the line has no end

	last    []byte // the name that came last
	pending []byte // a name whose result is still to come, after the output of the benchmark
	logs    []byte // its log
	process goProcess
	shared  goShared
}

// goProcess is how a test process went.
type goProcess struct {
	ended  bool
	failed bool   // the failure has been reported
	tests  bool   // tests failed, so that no benchmark ran
	panics string // its first line
}

// goField is a value with its unit.
type goField struct {
	value foreign.Value
	name  []byte // of the unit
	unit  *goUnit
}

// line reads a line, given its number.
func (p *goParser) line(n int, line []byte) error {
	p.number = n
	if len(line) == 0 {
		return nil
	}
	if n := len(p.run.name); n > 0 && len(line) > n && (line[n] == ' ' || line[n] == '\t') && bytes.Equal(line[:n], p.run.name) {
		return p.benchmark(line[:n], line[n:])
	}
	if line[0] == 'B' {
		if name, rest := goName(line); name != nil {
			return p.benchmark(name, rest)
		}
	}
	switch c := line[0]; {
	case c == ' ' || c == '\t' || c >= '0' && c <= '9':
		return p.indented(line)
	case c >= 'a' && c <= 'z' || c >= utf8.RuneSelf:
		if key, value, ok := goConfig(line); ok {
			return p.setConfig(key, value)
		}
	}
	return p.other(string(line))
}

// benchmark reads a line that begins with a name: a result, or the name alone, whose result follows the output of the
// benchmark prints.
func (p *goParser) benchmark(name, rest []byte) error {
	p.logs = p.logs[:0]
	p.last = append(p.last[:0], name...)
	if result, err := p.result(name, rest); result || err != nil {
		p.pending = p.pending[:0]
		return err
	}
	p.pending = append(p.pending[:0], name...)
	printed := strings.TrimLeft(string(rest), " \t")
	if printed == "" {
		return nil
	}
	return p.other(printed)
}

// indented reads a line that begins with a space or a number: a log, or a result whose name was on an earlier line.
func (p *goParser) indented(line []byte) error {
	if len(p.pending) > 0 && bytes.IndexByte(line, '\t') > 0 {
		if result, err := p.result(p.pending, line); result || err != nil {
			p.pending = p.pending[:0]
			return err
		}
	}
	if len(p.logs) < maxGoLog {
		p.logs = append(append(p.logs, bytes.TrimSpace(line)...), '\n')
	}
	if p.run.failing && len(p.run.message) < maxGoLog {
		p.run.message = append(append(p.run.message, bytes.TrimSpace(line)...), '\n')
	}
	return nil
}

// maxGoLog limits the log of a benchmark that is kept for the error of a failure.
const maxGoLog = 4 << 10

// other reads a line whose first word determines its kind.
func (p *goParser) other(line string) error {
	p.run.failing = false
	first, rest, _ := strings.Cut(line, " ")
	word, _, _ := strings.Cut(first, "\t")
	switch {
	case strings.HasPrefix(line, "--- FAIL: "):
		return p.failed(strings.TrimPrefix(line, "--- FAIL: "), schema.StatusError)
	case strings.HasPrefix(line, "--- SKIP: "):
		return p.failed(strings.TrimPrefix(line, "--- SKIP: "), schema.StatusSkipped)
	case strings.HasPrefix(line, "--- BENCH: "), strings.HasPrefix(line, "=== "):
	case first == "Unit":
		p.setUnit(rest)
	case word == "PASS", word == "ok":
		p.process.panics = "" // something printed the word
		return p.end()
	case strings.HasPrefix(line, "FAIL\t"):
		return p.endFailed(strings.TrimPrefix(line, "FAIL\t"))
	case first == "panic:", first == "signal:", strings.HasPrefix(line, "fatal error: "):
		if p.process.panics == "" {
			p.process.panics = line
		}
	}
	p.logs = p.logs[:0]
	return nil
}

// goNoise are the keys of lines of the form key: value that the go command and tests print, and that describe nothing.
var goNoise = map[string]bool{
	"panic": true, "signal": true, "testing": true, "coverage": true, "go": true, "vet": true, "warning": true, "error": true,
	"info": true, "debug": true, "runtime": true, "ld": true, "exit": true,
}

// goConfig reads a line of the form key: value. A key has neither spaces nor capitals.
func goConfig(line []byte) (key, value string, ok bool) {
	for i, c := range string(line) {
		if i == 0 && !unicode.IsLower(c) || unicode.IsSpace(c) || unicode.IsUpper(c) {
			return "", "", false
		}
		if c == ':' {
			key, value = strings.ToValidUTF8(string(line[:i]), "�"), strings.ToValidUTF8(string(line[i+1:]), "�")
			trimmed := strings.TrimSpace(value)
			return key, trimmed, !goNoise[key] && (trimmed == "" || value[0] == ' ' || value[0] == '\t')
		}
	}
	return "", "", false
}

// goHeader are the keys for the environment of a process, which are not parameters. go test prints the first ones.
var goHeader = map[string]bool{
	"goos": true, "goarch": true, "pkg": true, "cpu": true, "commit": true, "commit-time": true, "branch": true, "goversion": true,
	"go-version": true, "machine": true, "hostname": true, "builder_id": true, "builder_type": true,
	// When and by whom, in the output of the Go project's own builders: as parameters they would make every process a point.
	"date": true, "time": true, "runstamp": true, "bentstamp": true, "by": true,
	"upload": true, "upload-file": true, "upload-part": true, "upload-time": true,
}

// maxGoConfig bounds the lines of the form key: value that are kept.
const maxGoConfig = 100

// setConfig reads a line of the form key: value, which applies to the results after it.
func (p *goParser) setConfig(key, value string) error {
	if err := p.flush(); err != nil {
		return err
	}
	p.shared = goShared{}
	if p.header == nil {
		p.header, p.config = map[string]string{}, map[string]string{}
	}
	to, other := p.config, p.header
	if goHeader[key] || isGoStamp(key, value) {
		to, other = p.header, p.config
		if p.process.ended {
			for _, name := range []string{"goos", "goarch", "pkg", "cpu"} {
				delete(p.header, name)
			}
			p.process = goProcess{}
		}
	}
	if len(to) >= maxGoConfig && to[key] == "" {
		p.out.Refuse(p.where(), fmt.Errorf("more than %d lines of the form key: value", maxGoConfig))
		return nil
	}
	delete(other, key)
	if to[key] = value; value == "" {
		delete(to, key)
	}
	return nil
}

func (p *goParser) where() string { return "line " + strconv.Itoa(p.number) }

// end ends a process at its last line, or at the end of the text.
func (p *goParser) end() error {
	if p.process.panics != "" && !p.process.failed {
		return p.endFailed("")
	}
	p.pending, p.last = p.pending[:0], p.last[:0]
	p.process = goProcess{ended: true}
	return p.flush()
}

// failed reads a line that names a benchmark that failed or was skipped.
func (p *goParser) failed(text string, status schema.Status) error {
	text, _, _ = strings.Cut(text, " (")
	name, _ := goName([]byte(text))
	if name == nil {
		if status == schema.StatusError {
			p.process.tests = true
			p.out.LeaveOutNamed("failed tests", strings.TrimSpace(text))
		}
		return nil
	}
	p.pending = p.pending[:0]
	p.process.failed = p.process.failed || status == schema.StatusError
	if bytes.HasPrefix(p.last, append(slices.Clone(name), '/')) {
		return nil // it failed because a sub-benchmark did
	}
	p.last = append(p.last[:0], name...)
	if !bytes.Equal(name, p.run.name) {
		if err := p.begin(name); err != nil {
			return err
		}
	}
	p.run.failing = len(p.run.message) == 0
	p.run.status = status
	p.run.message = append(p.run.message, p.logs...)
	p.logs = p.logs[:0]
	return nil
}

// endFailed reads the line for a failed process: its package, and perhaps the reason. If no benchmark is known to
// have failed, it was the one that ran last, or the package did not compile.
func (p *goParser) endFailed(text string) error {
	process := p.process
	if err := p.flush(); err != nil {
		return err
	}
	if !process.failed && !process.tests {
		if err := p.yieldProcess(text, process.panics); err != nil {
			return err
		}
	}
	p.process = goProcess{}
	return p.end()
}

// yieldProcess yields a run for a process that failed without a failed benchmark.
func (p *goParser) yieldProcess(text, panics string) error {
	pkg, _, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	r := schema.Run{Status: schema.StatusError, Stage: schema.StageMeasure, Error: panics}
	switch {
	case strings.Contains(text, "[build failed]"):
		r.Stage, r.Error = schema.StageBuild, "build failed"
	case strings.Contains(text, "[setup failed]"):
		r.Stage, r.Error = schema.StageBuild, "setup failed"
	case strings.HasPrefix(panics, "panic: test timed out"):
		r.Status = schema.StatusTimeout
	case panics != "":
		r.Status = schema.StatusCrashed
	}
	switch {
	case len(p.pending) > 0 && r.Stage != schema.StageBuild:
		p.setName(&r, strings.ToValidUTF8(string(p.pending), "�"))
	case pkg != "":
		r.Benchmark = pkg
	default:
		r.Benchmark = p.header["pkg"]
	}
	if r.Benchmark == "" {
		return nil // the name of the benchmark is unknown
	}
	if r.Stage != schema.StageBuild && !p.process.ended {
		p.setEnv(&r, p.now)
	}
	r.Benchmark, r.Error = strings.ToValidUTF8(r.Benchmark, "�"), strings.ToValidUTF8(r.Error, "�")
	return p.out.Run(p.where(), r)
}

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

// goMetric has the values of a metric in the lines.
type goMetric struct {
	name       []byte // of the unit
	unit       *goUnit
	values     foreign.Series
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
		m.values.Append(f.value)
		m.iterations = append(m.iterations, iterations)
	}
	return true, nil
}

// maxGoUnits is how many values a line may have.
const maxGoUnits = 200

// readFields reads the values of a result.
func (p *goParser) readFields(rest []byte) error {
	p.fields = p.fields[:0]
	same := true // units as in the line before, which are not compared with one another
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
		var err error
		if f.value, err = f.unit.scale.Value(number); err != nil || !isGoNumber(number) {
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

// goWord returns the next word of a line; nil at its end.
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

// metric returns the metric of a field. Most lines have it at the same index i. It is added if the run does not have it.
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
	m.values, m.iterations = foreign.Series{}, m.iterations[:0]
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

// flush yields the current run, and clears it.
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

// goMetricOf returns the metric of a unit.
func goMetricOf(m *goMetric, iterations []int64) schema.Metric {
	series := m.values
	series.Unit, _, _ = schema.StoredUnit(m.unit.unit)
	metric := series.Metric(m.unit.metric, schema.LevelIteration)
	metric.Better = m.unit.better
	metric.IterationsPerSample = iterationsOf(iterations, series.Len())
	return metric
}

// goTestEvent is an event of go test -json.
type goTestEvent struct {
	Time    foreign.Text
	Action  string
	Package string
	Test    string
	Output  string
}

// goEvents reads events. Each package is tested by its own process, and the events of several processes may be interleaved.
type goEvents struct {
	in       *foreign.Input
	out      *foreign.Output
	procs    goProcs
	packages map[string]*goPackage
}

// goPackage is the process of a package.
type goPackage struct {
	parser  *goParser
	partial map[string][]byte // by test: the beginning of a line that has not ended
}

func readGoEvents(in *foreign.Input, lines *goLines, out *foreign.Output) error {
	g := goEvents{in: in, out: out, procs: goProcsOf(goEventNames(in.Head.Bytes)), packages: map[string]*goPackage{}}
	err := lines.each(out, func(line []byte) error {
		var e goTestEvent
		if !bytes.HasPrefix(line, []byte("{")) || !decode(out, lines.where(), line, &e) { // output of the compiler is no event
			return nil
		}
		return g.event(lines.n, &e)
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(g.packages)) {
		if err := g.end(name); err != nil {
			return err
		}
	}
	return nil
}

// Limits of the state of packages that have not ended.
const (
	maxGoPackages = 1000
	maxGoPartial  = 1000
)

// event handles an event.
func (g *goEvents) event(n int, e *goTestEvent) error {
	p := g.packages[e.Package]
	if p == nil {
		if len(g.packages) >= maxGoPackages {
			for name := range maps.Clone(g.packages) {
				if err := g.end(name); err != nil {
					return err
				}
			}
		}
		p = &goPackage{&goParser{in: g.in, out: g.out, procs: g.procs}, map[string][]byte{}}
		g.packages[e.Package] = p
	}
	switch e.Action {
	case "start", "run":
		p.parser.now = string(e.Time)
	case "output":
		return p.output(n, e)
	case "pass", "fail", "skip":
		if e.Test == "" {
			return g.end(e.Package)
		}
	}
	return nil
}

// end ends the process of a package.
func (g *goEvents) end(name string) error {
	p := g.packages[name]
	delete(g.packages, name)
	return p.parser.end()
}

// output reads the output of a test: lines, or parts of lines.
func (p *goPackage) output(n int, e *goTestEvent) error {
	text := append(p.partial[e.Test], e.Output...)
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			break
		}
		if err := p.parser.line(n, line); err != nil {
			return err
		}
		text = rest
	}
	delete(p.partial, e.Test)
	if len(text) > 0 && len(text) < maxGoLine && len(p.partial) < maxGoPartial {
		p.partial[e.Test] = text
	}
	return nil
}

// goEventNames returns the names of the benchmarks in the events at the beginning of a file.
func goEventNames(head []byte) map[string]bool {
	names := map[string]bool{}
	for line := range bytes.Lines(head) {
		var e goTestEvent
		if foreign.Decode(line, &e) == nil {
			maps.Copy(names, goNames([]byte(e.Output)))
		}
	}
	return names
}
