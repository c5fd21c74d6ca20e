package formats

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// goParser reads the lines of test processes, one after the other.
type goParser struct {
	in    *foreign.Input
	out   *foreign.Output
	procs goProcs
	now   string // when the benchmark began, where events say so

	header map[string]string // goos, goarch, pkg, cpu, and what else says where a process ran
	config map[string]string // the other lines of the form key: value
	units  map[string]*goUnit
	run    goRun
	fields []goField // of a line
	number int       // of the line
	open   bool      // the line has no end

	last    []byte // the name that came last
	pending []byte // a name whose result is still to come, after what the benchmark prints
	logs    []byte // what it logged
	process goProcess
	shared  goShared
}

// goProcess is how a test process went.
type goProcess struct {
	ended  bool
	failed bool   // what failed has been said
	tests  bool   // tests failed, so that no benchmark ran
	panics string // its first line
}

// goField is a value with its unit.
type goField struct {
	value goValue
	name  []byte // of the unit
	unit  *goUnit
}

// line takes the next line, which has a number.
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

// benchmark takes a line that begins with a name: a result, or the name alone, whose result comes after what the
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

// indented takes a line that begins with a space or a number: a log, or a result whose name stands before.
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

// maxGoLog is how much is kept of what a benchmark logs before it fails.
const maxGoLog = 4 << 10

// other takes a line of which the beginning says what it is.
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

// goHeader are the keys that say where and of what a process ran, not what it measured. The first ones go test prints.
var goHeader = map[string]bool{
	"goos": true, "goarch": true, "pkg": true, "cpu": true, "commit": true, "commit-time": true, "branch": true, "goversion": true,
	"go-version": true, "machine": true, "hostname": true, "builder_id": true, "builder_type": true,
	// When and by whom, as the Go project's own builders write it: as parameters they would make every process a point.
	"date": true, "time": true, "runstamp": true, "bentstamp": true, "by": true,
	"upload": true, "upload-file": true, "upload-part": true, "upload-time": true,
}

// maxGoConfig bounds the lines of the form key: value that are kept.
const maxGoConfig = 100

// setConfig takes a line of the form key: value, which holds for the results after it.
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

// end takes the end of a process, or of the text.
func (p *goParser) end() error {
	if p.process.panics != "" && !p.process.failed {
		return p.endFailed("")
	}
	p.pending, p.last = p.pending[:0], p.last[:0]
	p.process = goProcess{ended: true}
	return p.flush()
}
