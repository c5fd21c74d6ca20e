package formats

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

var goPrefix = []byte("Benchmark")

// goName is the name that a line begins with, and what follows it. A name is Benchmark, or that and anything but a lower
// case letter: Benchmarking is none.
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

// goNames are the names of the benchmarks in a text that are followed by something: with -v, a line of the name alone,
// without the number of processors, stands before.
func goNames(text []byte) map[string]bool {
	names := map[string]bool{}
	for line := range bytes.Lines(text) {
		if name, rest := goName(line); name != nil && len(rest) > 0 {
			names[string(name)] = true
		}
	}
	return names
}

// goProcs tells which numbers at the end of names are GOMAXPROCS: X-8 ran on 8. X that ran on 1 has no number, and then
// kind=f-16 may be a name as it is.
type goProcs struct {
	one    bool            // some ran on 1
	values map[string]bool // the numbers that are GOMAXPROCS, where some ran on 1
}

// goProcsOf judges by the names at the beginning of a file. A function has no - in its name: a number after it is
// GOMAXPROCS. Where there are only names of sub-benchmarks, a number is, if half of them are there without it, too.
func goProcsOf(names map[string]bool) goProcs {
	p := goProcs{values: map[string]bool{}}
	functions := false
	for name := range names {
		if isGoFunction(name) {
			functions = true
			p.take(name)
		}
	}
	if functions {
		return p
	}
	with, without := map[string]int{}, map[string]int{}
	for name := range names {
		base, number := cutProcs(name)
		if number == "" {
			p.one = true
			continue
		}
		with[number]++
		if names[base] {
			without[number]++
		}
	}
	for number, n := range with {
		p.values[number] = 2*without[number] >= n
	}
	return p
}

func isGoFunction(name string) bool { return !strings.Contains(name, "/") }

// take learns from the name of a function.
func (p *goProcs) take(name string) {
	if _, number := cutProcs(name); number == "" {
		p.one = true
	} else {
		p.values[number] = true
	}
}

// split cuts GOMAXPROCS off a name. Where none ran on 1, all names end in it.
func (p *goProcs) split(name string) (base, number string) {
	base, number = cutProcs(name)
	if number != "" && (isGoFunction(name) || !p.one || p.values[number]) {
		return base, number
	}
	return name, ""
}

// cutProcs cuts off the number that may be GOMAXPROCS, which 1 is not.
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
		procs = "1" // go test, which says its system, leaves it out of the name of a result
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
