package sweep

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// maxNamed bounds the benchmarks that an error lists.
const maxNamed = 10

// target is a pattern of the command line.
type target struct {
	pattern string
	matched bool
}

func readTargets(patterns []string) ([]target, error) {
	var targets []target
	for _, pattern := range patterns {
		switch {
		case pattern != "all":
		case len(patterns) > 1:
			return nil, targetError(pattern, "it chooses every point: give it alone")
		default:
			return nil, nil
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, targetError(pattern, "want a pattern with *, ? and [a-z]")
		}
		targets = append(targets, target{pattern: pattern})
	}
	return targets, nil
}

// targeted reports whether a point is one to run. also are further names of its benchmark.
func (e *expansion) targeted(p *Point, also []string) bool {
	if len(e.targets) == 0 {
		return true
	}
	if len(e.named) <= maxNamed && !slices.Contains(e.named, p.Benchmark) {
		e.named = append(e.named, p.Benchmark)
	}
	names := p.targetNames(also)
	found := false
	for i := range e.targets {
		t := &e.targets[i]
		for _, name := range names {
			if matched, err := path.Match(t.pattern, name); err == nil && matched {
				t.matched, found = true, true
			}
		}
	}
	return found
}

// targetNames are what a target may call a point.
func (p *Point) targetNames(also []string) []string {
	names := []string{p.Suite, p.Benchmark}
	benchmarks := append([]string{p.Benchmark}, also...)
	if short, within := strings.CutPrefix(p.Benchmark, p.Suite+"/"); within {
		benchmarks = append(benchmarks, short)
	}
	for _, benchmark := range benchmarks {
		name := p.Suite + ":" + benchmark
		if names = append(names, name); p.Variant != "" {
			names = append(names, name+":"+p.Variant)
		}
	}
	return names
}

// mayBe reports whether a target may select points of the document, as far as that is known before these are created.
func (d *document) mayBe(targets []target) bool {
	p := Point{Suite: suiteOf(d.file.name), Benchmark: d.nameOf("benchmark"), Variant: d.nameOf("variant")}
	if f := d.choose("suite"); f.given() {
		p.Suite = f.Value
	}
	if p.Benchmark == "" || !d.found && strings.ContainsAny(p.Benchmark+p.Variant, "{}") {
		return true
	}
	variants := p.Variant == "" && slices.ContainsFunc(axesIn(d.file.Node), func(a axisAt) bool { return a.column == "variant" })
	_, given := d.over.Params["variant"]
	names := p.targetNames(d.also)
	for _, t := range targets {
		if (variants || given) && strings.Count(t.pattern, ":") > 1 {
			return true
		}
		if slices.ContainsFunc(names, func(name string) bool { matched, err := path.Match(t.pattern, name); return matched || err != nil }) {
			return true
		}
	}
	return len(targets) == 0
}

// checkTargets refuses a pattern that matches nothing.
func (e *expansion) checkTargets() error {
	for _, t := range e.targets {
		if t.matched {
			continue
		}
		var names []string
		for _, name := range e.named[:min(len(e.named), maxNamed)] {
			names = append(names, shorten(name))
		}
		if len(e.named) > maxNamed {
			names = append(names, "…")
		}
		return targetError(t.pattern, "no point matches (suite %s, benchmarks: %s)",
			shorten(e.suite()), strings.Join(names, ", "))
	}
	return nil
}

func targetError(pattern, format string, args ...any) error {
	return origin{name: fmt.Sprintf("--targets %q", shorten(pattern))}.errorf(0, format, args...)
}
