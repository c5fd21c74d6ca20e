// Package facts describes how runs differ apart from their measurements: in hardware, code, configuration and environment. It also
// has the fields that identify a point.
package facts

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// Difference is a fact in which the sides of a comparison differ.
type Difference struct {
	Kind Kind
	// Name is the name of a column of runs, env.NAME or applied.NAME.
	Name string
	// Base and Head are the different values on each side, ascending; empty if unknown.
	Base, Head []string
}

// Kind is the category of a fact.
type Kind string

// The kinds, most important first: if the hardware differs, nothing can be concluded about the code.
const (
	Hardware      Kind = "hardware"
	Code          Kind = "code"
	Configuration Kind = "configuration"
	Environment   Kind = "environment"
)

// kinds are the kinds, most important first.
var kinds = []Kind{Hardware, Code, Configuration, Environment}

// comparedFact is a column of runs with its kind.
type comparedFact struct {
	kind Kind
	name string
}

// compared are the columns of runs, except maps, in which sides may differ, most important first.
var compared = []comparedFact{
	{Hardware, "machine"},
	{Hardware, "host_id"},
	{Hardware, "cpu_model"},
	{Hardware, "cpu_count"},
	{Hardware, "memory_bytes"},
	{Hardware, "gpu_name"},
	{Hardware, "gpu_count"},
	{Code, "git_commit"},
	{Code, "git_dirty"},
	{Code, "model_sha256"},
	{Code, "backend_version"},
	{Configuration, "executor"},
	{Environment, "hostname"},
	{Environment, "os"},
	{Environment, "os_kernel"},
	{Environment, "driver_version"},
	{Environment, "cuda_version"},
	{Environment, "python_version"},
}

// Columns are the columns of runs of these kinds, most important first, without maps. Without arguments: of all kinds.
func Columns(of ...Kind) []string {
	var names []string
	for _, f := range compared {
		if len(of) == 0 || slices.Contains(of, f.kind) {
			names = append(names, f.name)
		}
	}
	return names
}

// Rank orders differences: by kind, then columns by importance, then entries of maps.
func Rank(d Difference) int {
	if slices.Contains(Identity, d.Name) {
		return slices.Index(kinds, d.Kind) * (len(compared) + 1)
	}
	place := slices.IndexFunc(compared, func(f comparedFact) bool { return f.name == d.Name })
	if place < 0 {
		place = len(compared)
	}
	return slices.Index(kinds, d.Kind)*(len(compared)+1) + place
}

// KindOf is the kind of a fact.
func KindOf(name string) Kind {
	for _, f := range compared {
		if f.name == name {
			return f.kind
		}
	}
	switch {
	case name == "env."+schema.FactConfig:
		return Configuration
	case strings.HasPrefix(name, "env.cpu.steal"): // CPU time taken by other virtual machines
		return Environment
	case strings.Contains(name, "sha256"), strings.HasPrefix(name, "env.git."), strings.HasPrefix(name, "env.python.installed."):
		return Code
	case strings.HasPrefix(name, "applied."), strings.HasPrefix(name, "env.runner."):
		return Configuration
	case strings.HasPrefix(name, "env.cpu."), strings.HasPrefix(name, "env.gpu."), strings.HasPrefix(name, "env.memory."):
		return Hardware
	}
	return Environment
}
