package prepare

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema/lazyregexp"
)

// CheckSides refuses, before anything runs, a sweep that would measure the same code on both sides. What cannot be known before, NoteFiles
// finds at the first launches.
func (t *Targets) CheckSides() error {
	if len(t.Sides) < 2 {
		return nil
	}
	built := false
	for _, p := range t.run() {
		for _, text := range textsOf(p) {
			if err := t.checkAbsolute(text); err != nil {
				return fmt.Errorf("%s: %w", t.Sweep.Name, err)
			}
		}
		t.uses = t.uses || t.usesTree(p)
		built = built || len(p.Build) > 0
	}
	if t.uses || built {
		return nil
	}
	for _, p := range t.run() {
		if script := t.scriptOf(p); script != "" {
			return fmt.Errorf("%s: %s: %s: no such file%s", t.Sweep.Name, p.Command[0], script, t.unshared(p.Dir, script))
		}
	}
	if len(t.Sweep.Points) > 0 && !slices.ContainsFunc(t.run(), watchable) {
		return t.nothingUsed()
	}
	return nil
}

// nothingUsed is the error of a sweep that uses nothing from the repository.
func (t *Targets) nothingUsed() error {
	return fmt.Errorf("%s: it uses nothing from the repository, so both sides would be the same: name a file of it, by a relative path", t.Sweep.Name)
}

// said is a text of a point, and where it stands; of a word of the command, nothing.
type said struct{ what, text string }

// textsOf lists the texts of a point in which there may be paths.
func textsOf(p *sweep.Point) []said {
	var all []said
	add := func(what string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				all = append(all, said{what, text})
			}
		}
	}
	add("", p.Command...)
	add("", p.File, p.ModelPath)
	add("cwd: ", p.Dir)
	add("stdin: ", p.Stdin)
	add("output: ", p.Stdout)
	add("setup: ", p.Hooks.Setup...)
	add("prepare: ", p.Hooks.Prepare...)
	add("cleanup: ", p.Hooks.Cleanup...)
	for _, command := range p.Build {
		add("build: ", command...)
	}
	for _, key := range slices.Sorted(maps.Keys(p.Env)) {
		add("env."+key+": ", p.Env[key])
	}
	return all
}

// checkAbsolute refuses an absolute path into the user's working tree, unless both sides share it.
func (t *Targets) checkAbsolute(s said) (refused error) {
	side := t.Sides[0]
	check := func(path, below string) {
		switch {
		case refused != nil || side.exempt(path):
		case len(side.Trees) > 0 && t.users(side.Trees[0], below) && !t.builtInto(below):
			refused = fmt.Errorf("%s%s is an absolute path in the repository, and neither side has it: %s", s.what, path, t.sharing(below))
		default:
			refused = fmt.Errorf("%s%s is an absolute path in the repository, so it is the same on both sides: make it relative", s.what, path)
		}
	}
	if filepath.IsAbs(s.text) { // it may lead there through symbolic links
		if below, ok := side.below(s.text); ok {
			check(s.text, below)
		}
	}
	side.replacePaths(s.text, func(tree, below string) string {
		check(tree+below, below)
		return tree + below
	})
	return refused
}

// workingFolder are the ways in which a line of a shell names the folder that it runs in.
var workingFolder = lazyregexp.MustCompile(`\$PWD|\$\{PWD\}|\bpwd\b`)

// usesTree reports whether a text of a point, apart from its builds, names something that is on a side.
func (t *Targets) usesTree(p *sweep.Point) bool {
	return slices.ContainsFunc(textsOf(p), func(s said) bool {
		switch {
		case s.what == "build: " || s.what == "output: ":
			return false
		case s.what == "cwd: ":
			return !filepath.IsAbs(s.text)
		case workingFolder.MatchString(s.text):
			return true
		}
		parts := strings.FieldsFunc(s.text, func(r rune) bool { return strings.ContainsRune(delimiters, r) })
		return slices.ContainsFunc(append(parts, s.text), func(path string) bool {
			if path == "" || filepath.IsAbs(path) || path == "." && strings.Contains(s.text, " ") { // the dot of a shell is no folder
				return false
			}
			return slices.ContainsFunc(t.Sides, func(side Side) bool { return side.Has(p.Dir, path) })
		})
	})
}

// interpreters run the file that is their first argument without a dash.
var interpreters = lazyregexp.MustCompile(`^(sh|ash|bash|dash|ksh|zsh|fish|python[0-9.]*|pypy[0-9.]*|perl|ruby|node|php|lua|Rscript|julia)$`)

// scriptOf is the script that a command has an interpreter run; empty: there is none.
func (t *Targets) scriptOf(p *sweep.Point) string {
	if len(p.Command) == 0 || !interpreters.MatchString(filepath.Base(p.Command[0])) || p.Hooks.Setup != nil {
		return ""
	}
	for _, word := range p.Command[1:] {
		switch {
		case word == "-" || word == "-s" || word == "-m" || word == "-e" || strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c"):
			return "" // a text, a module, or standard input
		case !strings.HasPrefix(word, "-"):
			if filepath.IsAbs(word) {
				return ""
			}
			return word
		}
	}
	return ""
}
