package help

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/runner/sweep"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// sweepEndings are those of sweep files.
var sweepEndings = []string{"yaml", "yml"}

// maxSweep is how much of a file is read: no sweep is longer.
const maxSweep = 1 << 20

// outlines returns the outlines of the sweep files on the line.
func (r request) outlines() []sweep.Outline {
	paths := r.args
	if f := r.cmd.Flags().Lookup("config"); f != nil && f.Changed {
		paths = append(slices.Clone(paths), f.Value.String())
	}
	var all []sweep.Outline
	for _, path := range paths {
		if !slices.Contains(sweepEndings, strings.TrimPrefix(filepath.Ext(path), ".")) {
			continue
		}
		if o, err := outlineOf(path); err == nil {
			all = append(all, o)
		}
	}
	return all
}

// outlineOf reads a file, but nothing that could keep a shell waiting.
func outlineOf(path string) (sweep.Outline, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return sweep.Outline{}, os.ErrInvalid
	}
	f, err := os.Open(path)
	if err != nil {
		return sweep.Outline{}, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxSweep))
	if err != nil {
		return sweep.Outline{}, err
	}
	return sweep.OutlineOf(path, src)
}

// placeholder is what a program on the line has in place of a value.
var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// axes returns the axes of the sweep file, or of the programs, on the line, each with the values of the file: AXIS=VALUE,VALUE.
func axes(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
	name, values, found := strings.Cut(r.typed, "=")
	var all []cobra.Completion
	for _, o := range r.outlines() {
		for _, axis := range o.Axes {
			switch {
			case !found:
				all = append(all, described(axis.Name+"=", strings.Join(axis.Values, ",")))
			case axis.Name == name:
				list := list(func(request) []cobra.Completion { return axis.Values })
				some, _ := list(request{typed: values})
				for _, value := range some {
					all = append(all, name+"="+value)
				}
			}
		}
	}
	for _, arg := range r.args {
		for _, match := range placeholder.FindAllStringSubmatch(arg, -1) {
			if word := match[1] + "="; !found && !slices.Contains(all, word) {
				all = append(all, word)
			}
		}
	}
	return all, open
}

// presets returns the presets of the sweep file on the line.
func presets(r request) (all []cobra.Completion) {
	for _, o := range r.outlines() {
		all = append(all, o.Presets...)
	}
	return all
}

// targets returns the suites and benchmarks of the sweep file on the line.
func targets(r request) (all []cobra.Completion) {
	for _, o := range r.outlines() {
		if o.Suite != "" {
			all = append(all, o.Suite)
		}
		for _, axis := range o.Axes {
			if axis.Name == "benchmark" {
				all = append(all, axis.Values...)
			}
		}
	}
	return all
}

// settings are KEY=VALUE of any key of a sweep file.
func settings(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
	name, _, found := strings.Cut(r.typed, "=")
	var all []cobra.Completion
	add := func(k sweep.Key, key string) {
		switch choices := k.Value.Choices(); {
		case !found:
			all = append(all, described(key+"=", k.Doc))
		case key == name && k.Value.Kind == sweep.Switch:
			all = append(all, key+"=true", key+"=false")
		case key == name:
			for _, word := range choices {
				all = append(all, key+"="+word)
			}
		}
	}
	for _, k := range sweep.Keys() {
		add(k, k.Name)
		if k.Value.Kind == sweep.Object {
			for _, under := range k.Value.Keys {
				add(under, k.Name+"."+under.Name)
			}
		}
	}
	if !found {
		return all, open
	}
	return all, done
}

// commits returns branches and tags, those of the newest commits first.
func commits(r request) []cobra.Completion {
	git := exec.CommandContext(r.cmd.Context(), "git", "-c", "safe.bareRepository=explicit", "for-each-ref", "--format=%(refname:short)", "--sort=-committerdate", "--count=100", "refs/heads", "refs/tags", "refs/remotes")
	out, err := git.Output()
	if err != nil { // no repository, or no git
		return nil
	}
	return strings.Fields(string(out))
}
