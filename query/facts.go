package query

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// FactDifference is a fact in which the sides of a comparison differ.
type FactDifference struct {
	Kind FactKind
	// Name is the name of a column of runs, env.NAME or applied.NAME.
	Name string
	// Base and Head are the different values on each side, ascending; empty if unknown.
	Base, Head []string
}

// FactKind is the category of a fact.
type FactKind string

// The kinds, most important first: if the hardware differs, nothing can be concluded about the code.
const (
	HardwareFact      FactKind = "hardware"
	CodeFact          FactKind = "code"
	ConfigurationFact FactKind = "configuration"
	EnvironmentFact   FactKind = "environment"
)

// kinds are the kinds, most important first.
var kinds = []FactKind{HardwareFact, CodeFact, ConfigurationFact, EnvironmentFact}

// comparedFact is a column of runs with its kind.
type comparedFact struct {
	kind FactKind
	name string
}

// compared are the columns of runs, except maps, in which sides may differ, most important first.
var compared = []comparedFact{
	{HardwareFact, "machine"},
	{HardwareFact, "host_id"},
	{HardwareFact, "cpu_model"},
	{HardwareFact, "cpu_count"},
	{HardwareFact, "memory_bytes"},
	{HardwareFact, "gpu_name"},
	{HardwareFact, "gpu_count"},
	{CodeFact, "git_commit"},
	{CodeFact, "git_dirty"},
	{CodeFact, "model_sha256"},
	{CodeFact, "backend_version"},
	{ConfigurationFact, "executor"},
	{EnvironmentFact, "hostname"},
	{EnvironmentFact, "os"},
	{EnvironmentFact, "os_kernel"},
	{EnvironmentFact, "driver_version"},
	{EnvironmentFact, "cuda_version"},
	{EnvironmentFact, "python_version"},
}

// FactColumns returns the columns of runs of these kinds, most important first, without maps. Without arguments: of all kinds.
func FactColumns(of ...FactKind) []string {
	var names []string
	for _, f := range compared {
		if len(of) == 0 || slices.Contains(of, f.kind) {
			names = append(names, f.name)
		}
	}
	return names
}

// FactRank orders differences: by kind, then columns by importance, then entries of maps.
func FactRank(d FactDifference) int {
	if slices.Contains(Identity, d.Name) {
		return slices.Index(kinds, d.Kind) * (len(compared) + 1)
	}
	place := slices.IndexFunc(compared, func(f comparedFact) bool { return f.name == d.Name })
	if place < 0 {
		place = len(compared)
	}
	return slices.Index(kinds, d.Kind)*(len(compared)+1) + place
}

// FactKindOf returns the kind of a fact.
func FactKindOf(name string) FactKind {
	for _, f := range compared {
		if f.name == name {
			return f.kind
		}
	}
	switch {
	case name == "env."+schema.FactConfig:
		return ConfigurationFact
	case strings.HasPrefix(name, "env.cpu.steal"): // CPU time taken by other virtual machines
		return EnvironmentFact
	case strings.Contains(name, "sha256"), strings.HasPrefix(name, "env.git."), strings.HasPrefix(name, "env.python.installed."):
		return CodeFact
	case strings.HasPrefix(name, "applied."), strings.HasPrefix(name, "env.runner."):
		return ConfigurationFact
	case strings.HasPrefix(name, "env.cpu."), strings.HasPrefix(name, "env.gpu."), strings.HasPrefix(name, "env.memory."):
		return HardwareFact
	}
	return EnvironmentFact
}
