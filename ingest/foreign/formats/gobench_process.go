package formats

import (
	"bytes"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// failed takes the line that says which benchmark failed or was skipped.
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
		return nil // it failed because one of its own did
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

// endFailed takes the line that says that a process failed: a package, and perhaps why. Where no benchmark is known to
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

// yieldProcess yields the run of a process of which only is known that it failed.
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
		return nil // nothing says what ran
	}
	if r.Stage != schema.StageBuild && !p.process.ended {
		p.setEnv(&r, p.now)
	}
	r.Benchmark, r.Error = strings.ToValidUTF8(r.Benchmark, "�"), strings.ToValidUTF8(r.Error, "�")
	return p.out.Run(p.where(), r)
}
