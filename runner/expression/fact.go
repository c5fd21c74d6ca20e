package expression

import (
	"slices"
)

// Fact describes a fact that every machine may have.
type Fact struct {
	Name    string
	Kind    Kind   // Number or Text
	Unit    string // B or B/s; empty: none
	Meaning string

	read func(*reading) (value any, why string)
}

// Facts lists the facts in alphabetical order.
func Facts() []Fact { return slices.Clone(facts) }

// find returns the fact of a name.
func find(name string) (Fact, bool) {
	i := slices.IndexFunc(facts, func(f Fact) bool { return f.Name == name })
	if i < 0 {
		return Fact{}, false
	}
	return facts[i], true
}

// names are the names of the facts.
func names() []string {
	all := make([]string, len(facts))
	for i, f := range facts {
		all[i] = f.Name
	}
	return all
}

var facts = []Fact{
	{Name: "arch", Kind: Text, Meaning: "instruction set: amd64, arm64", read: system},
	{Name: "cpu.count", Kind: Number, Meaning: "number of hardware threads of the system", read: number("cpu.threads")},
	{Name: "cpu.model", Kind: Text, Meaning: "model of the processor", read: text("cpu.model")},
	{
		Name: "gpu.compute_capability", Kind: Number, Meaning: "CUDA compute capability: 8, 9, 12.1",
		read: minOfGPUs(func(r *reading, gpu string) (float64, string) { return r.number(gpu + ".compute_capability") }),
	},
	{Name: "gpu.count", Kind: Number, Meaning: "number of GPUs that a benchmark can see", read: gpuCount},
	{Name: "gpu.gfx", Kind: Text, Meaning: "instruction set of the AMD GPU, such as gfx90a; of several, all with commas", read: textOfGPUs(".gfx")},
	{
		Name: "gpu.memory", Kind: Number, Unit: "B", Meaning: "memory of the GPU; of several, the smallest",
		read: minOfGPUs(func(r *reading, gpu string) (float64, string) { return r.number(gpu + ".memory") }),
	},
	{Name: "gpu.name", Kind: Text, Meaning: "name of the GPU; of several, all names with commas", read: textOfGPUs(".name")},
	{
		Name: "gpu.peak_bandwidth", Kind: Number, Unit: "B/s",
		Meaning: "highest bandwidth of the GPU's memory", read: minOfGPUs(peakBandwidth),
	},
	{Name: "hostname", Kind: Text, Meaning: "name of the host", read: text("host.name")},
	{Name: "memory", Kind: Number, Unit: "B", Meaning: "memory of the system, or the limit of its control group", read: memory},
	{Name: "os", Kind: Text, Meaning: "system: linux, darwin", read: system},
}
