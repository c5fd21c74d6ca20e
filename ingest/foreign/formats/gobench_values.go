package formats

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var goPrefix = []byte("Benchmark")

// goName returns the name at the beginning of a line, and the rest of the line. A name is Benchmark, optionally followed by anything but
// a lower case letter: Benchmarking is no name.
func goName(line []byte) (name, rest []byte) {
	if !bytes.HasPrefix(line, goPrefix) {
		return nil, nil
	}
	end := len(goPrefix)
	if first, _ := utf8.DecodeRune(line[end:]); unicode.IsLower(first) {
		return nil, nil
	}
	for end < len(line) && line[end] != ' ' && line[end] != '\t' {
		end++
	}
	return line[:end], line[end:]
}

// goNames returns the names of the benchmarks in a text that are followed by a value: with -v, a line with only the name, without the
// number of processors, comes first.
func goNames(text []byte) map[string]bool {
	names := map[string]bool{}
	for line := range bytes.Lines(text) {
		if name, rest := goName(line); name != nil && len(rest) > 0 {
			names[string(name)] = true
		}
	}
	return names
}

// goProcs determines which numbers at the end of names are GOMAXPROCS: X-8 ran on 8. X that ran on 1 has no number, and then kind=f-16
// may be a complete name.
type goProcs struct {
	one    bool            // some ran on 1
	values map[string]bool // the numbers that are GOMAXPROCS, where some ran on 1
}

// goProcsOf decides by the names at the beginning of a file. A function has no - in its name: a number after it is GOMAXPROCS. If there
// are only names of sub-benchmarks, a number is GOMAXPROCS if half of them also appear without it.
func goProcsOf(names map[string]bool) goProcs {
	p := goProcs{values: map[string]bool{}}
	functions := map[string]bool{}
	for name := range names {
		if isGoFunction(name) {
			functions[name] = true
		}
	}
	judged, with, without := names, map[string]int{}, map[string]int{}
	if len(functions) > 0 {
		judged = functions
	}
	for name := range judged {
		base, number := cutProcs(name)
		if number == "" {
			p.one = true
			continue
		}
		with[number]++
		if names[base] || len(functions) > 0 {
			without[number]++
		}
	}
	for number, n := range with {
		p.values[number] = 2*without[number] >= n
	}
	return p
}

func isGoFunction(name string) bool { return !strings.Contains(name, "/") }

// split cuts GOMAXPROCS off a name. If none ran on 1, all names end in it.
func (p *goProcs) split(name string) (base, number string) {
	base, number = cutProcs(name)
	if number != "" && (isGoFunction(name) || !p.one || p.values[number]) {
		return base, number
	}
	return name, ""
}

// cutProcs cuts off the number that may be GOMAXPROCS. go test never prints 1.
func cutProcs(name string) (base, number string) {
	at := strings.LastIndexByte(name, '-')
	if at < 0 {
		return name, ""
	}
	n, err := strconv.ParseUint(name[at+1:], 10, 16)
	if err != nil || n < 2 || name[at+1] == '0' {
		return name, ""
	}
	return name[:at], name[at+1:]
}

// setName gives a run its benchmark and parameters by the name of a benchmark: BenchmarkSum/small/n=8-4 of the package
// vec is vec/Sum/small with n and gomaxprocs.
func (p *goParser) setName(r *schema.Run, raw string) {
	base, procs := p.procs.split(raw)
	name := strings.TrimPrefix(base, string(goPrefix))
	if name == "" {
		name = base
	}
	parts := strings.Split(name, "/")
	words := parts[:1:1]
	params := make([]param, 0, len(parts))
	for _, part := range parts[1:] {
		if key, value, ok := strings.Cut(part, "="); ok && key != "" && value != "" {
			params = append(params, param{key, value})
		} else {
			words = append(words, part)
		}
	}
	if r.Benchmark = strings.Join(words, "/"); !setParams(r, params) {
		r.Benchmark = name
	}
	if procs == "" && p.header["goos"] != "" && p.run.used > 0 {
		procs = "1" // go test, which prints its system, leaves it out of the name of a result
	}
	if procs != "" {
		p.addParam(r, "gomaxprocs", procs)
	}
	for _, name := range slices.Sorted(maps.Keys(p.config)) {
		p.addParam(r, name, p.config[name])
	}
	if pkg := p.header["pkg"]; pkg != "" {
		r.Benchmark = pkg + "/" + r.Benchmark
	}
}

// addParam adds a parameter that is not in the run's name. If the name has one with the same key, both are kept.
func (p *goParser) addParam(r *schema.Run, name, text string) {
	if foreign.HasAxis(r, name) {
		name = "config." + name
	}
	foreign.SetParam(r, name, text)
}

// goStampWords are the last words of keys for the commit and the time of a process: numerator_hash, experiment-commit-time.
var goStampWords = []string{"hash", "stamp", "commit", "branch", "date"}

// goRoles are the keys that name the commit of a process by its part in a comparison, where their values are commits.
var goRoles = []string{"tip", "base", "experiment", "baseline"}

var goCommit = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// isGoStamp reports whether a line of the form key: value is about the commit or the time of a process: as a parameter it would
// make every commit another point.
func isGoStamp(key, value string) bool {
	if slices.Contains(goRoles, key) {
		return goCommit.MatchString(value)
	}
	words := strings.FieldsFunc(strings.TrimSuffix(key, "-time"), func(r rune) bool { return r == '-' || r == '_' })
	return len(words) > 1 && slices.Contains(goStampWords, words[len(words)-1])
}

// goOnlyColumns are the keys of the header that are columns, or describe who stored a file: they become no facts.
var goOnlyColumns = []string{"goos", "pkg", "cpu", "commit", "branch", "machine", "hostname", "by", "upload", "upload-file", "upload-part"}

// setEnv sets the environment and the start of a run. The commit and the branch may be the process's own, or those of its
// role in a comparison.
func (p *goParser) setEnv(r *schema.Run, at string) {
	h, side := p.header, goSides[p.config["toolchain"]]
	r.Env = schema.Env{
		Machine: cmp.Or(h["machine"], h["hostname"], h["builder_id"]), Hostname: h["hostname"], OS: h["goos"], CPUModel: h["cpu"],
		GitCommit: cmp.Or(h["commit"], h["tip"], h["base"], h["experiment"], h["baseline"]), GitBranch: h["branch"],
	}
	if side != "" {
		r.Env.GitCommit = cmp.Or(r.Env.GitCommit, h[side+"hash"], h[side+"commit"])
		r.Env.GitBranch = cmp.Or(r.Env.GitBranch, h[side+"branch"])
	}
	for name, text := range h {
		if !slices.Contains(goOnlyColumns, name) {
			foreign.SetFact(r, name, text)
		}
	}
	for _, text := range []string{at, h["runstamp"], h["date"]} {
		if r.StartedAt.IsZero() {
			p.in.SetStart(r, text, goTimes...)
		}
	}
}

var goTimes = append([]string{"20060102T150405", "2006-01-02"}, foreign.ISO...)

// goSides are the prefixes of the keys of the roles in a comparison, by the value of the line toolchain.
var goSides = map[string]string{"Tip": "numerator_", "Base": "denominator_", "experiment": "experiment-", "baseline": "baseline-"}

// goShared has the environment that the runs of a process share, with the facts about their units.
type goShared struct {
	kept       bool
	at         string
	units      []*goUnit
	env        schema.Env
	started    time.Time
	timeSource schema.TimeSource
}

// fits reports whether a run has the same start and units, so that it can share the environment.
func (s *goShared) fits(b *goRun) bool {
	return s.kept && len(s.units) == b.used && s.at == b.at &&
		!slices.ContainsFunc(b.metrics[:b.used], func(m goMetric) bool { return !slices.Contains(s.units, m.unit) })
}

// share keeps the values that the following runs share with this one. A text with NUL characters is not kept, because they are removed
// from it, and each run reports that.
func (p *goParser) share(r *schema.Run, b *goRun) {
	p.shared = goShared{}
	for name, text := range r.Env.Facts {
		if strings.IndexByte(name, 0) >= 0 || strings.IndexByte(text, 0) >= 0 {
			return
		}
	}
	p.shared = goShared{kept: true, at: b.at, env: r.Env, started: r.StartedAt, timeSource: r.TimeSource}
	for i := range b.metrics[:b.used] {
		p.shared.units = append(p.shared.units, b.metrics[i].unit)
	}
}

// goUnit is the metric of a unit of Go benchmarks.
type goUnit struct {
	metric string
	unit   string // as NeuroLens knows it
	given  string
	scale  foreign.Scale
	better schema.Better
}

// maxGoKnownUnits is how many units are remembered.
const maxGoKnownUnits = 10_000

// unit returns the metric of a unit.
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

// knows reports whether go test itself prints a unit, or the text had it before.
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
	u.scale = foreign.ScaleOf(u.unit)
	switch stored, _, _ := schema.StoredUnit(u.unit); {
	case strings.HasSuffix(name, "/s"), strings.HasSuffix(name, "/sec"):
		u.better = schema.BetterHigher
	case strings.HasSuffix(name, "/op"), stored == "ns":
		u.better = schema.BetterLower
	}
	return u
}

// goBaseUnit returns the unit that a name has above its line: p99-ns is in ns, B/op in B. Any other name, and any rate, is a
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

// setUnit reads a line about a unit: Unit text-bytes better=lower assume=exact.
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

// isGoNumber reports whether a word is a decimal number, or a word that Go prints for NaN or infinity. Not all texts that
// strconv.ParseFloat reads are such numbers.
func isGoNumber(word []byte) bool {
	for _, c := range word {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			text := string(bytes.TrimLeft(word, "+-"))
			return text == "Inf" || text == "NaN"
		}
	}
	return true
}
