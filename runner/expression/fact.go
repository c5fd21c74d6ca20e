package expression

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"

	"github.com/neurolens/neurolens/schema"
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

// names returns the names of the facts.
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

// FactSources provide the facts of a machine. Each is called only when a fact needs it.
type FactSources struct {
	Env     func() schema.Env // the manifest of the environment; called once at most
	Environ []string          // key=value: determines the visible GPUs
	// Version returns the version of a module of a Python interpreter, whose name may be empty for the default one; empty: it has no such
	// module, or there is no interpreter.
	Version func(interpreter, module string) string
}

// Machine provides facts for expressions. Only one goroutine at a time may use it. A nil *Machine has no facts.
type Machine struct {
	sources  FactSources
	reading  func() *reading
	given    map[string]any
	versions map[[2]string]string
}

// NewMachine makes a machine. given sets some facts, as a user writes them: 16GiB, or null for NULL.
func NewMachine(given map[string]string, s FactSources) (*Machine, error) {
	m := &Machine{sources: s, given: map[string]any{}, versions: map[[2]string]string{}}
	m.reading = sync.OnceValue(func() *reading { return &reading{env: s.Env(), environ: s.Environ} })
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, err := parse(name, given[name])
		if err != nil {
			return nil, err
		}
		m.given[name] = value
	}
	return m, nil
}

// parse reads the value of a fact that a user gives.
func parse(name, value string) (any, error) {
	f, is := find(name)
	if !is {
		if near := schema.Nearest(name, names()); near != "" {
			return nil, fmt.Errorf("unknown fact %s: did you mean %s?", name, near)
		}
		return nil, fmt.Errorf("unknown fact %s: neurolens env --facts lists all", name)
	}
	switch {
	case value == "null":
		return nil, nil
	case f.Kind == Text:
		return value, nil
	}
	number, err := ParseAmount(value, f.Unit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return number, nil
}

// ParseAmount reads a number, with a unit if the fact has one: for B, 16GiB is 17179869184.
func ParseAmount(text, unit string) (float64, error) {
	q, err := schema.ParseQuantity(text)
	if err != nil {
		return 0, err
	}
	if q.Unit == "" {
		return q.Value, nil
	}
	stored, factor, known := schema.StoredUnit(q.Unit)
	switch {
	case unit == "":
		return 0, fmt.Errorf("%q: want a number without a unit", text)
	case !known || stored != unit:
		return 0, fmt.Errorf("%q: want a value in %s, not in %s", text, unit, q.Unit)
	}
	return q.Value * factor, nil
}

// Value returns a fact, which must be one of All; nil, with the reason, if it is not known.
func (m *Machine) Value(name string) (value any, why string) {
	if m == nil {
		return nil, "unsupported"
	}
	if value, is := m.given[name]; is {
		if value == nil {
			return nil, "given as null"
		}
		return value, ""
	}
	if value, is := systems[name]; is {
		return value, ""
	}
	f, _ := find(name)
	return f.read(m.reading())
}

// Given returns the facts that a user has set, as they are stored; nil: none.
func (m *Machine) Given() map[string]string {
	if m == nil || len(m.given) == 0 {
		return nil
	}
	texts := map[string]string{}
	for name, value := range m.given {
		switch value := value.(type) {
		case nil:
			texts[name] = "null"
		case float64:
			texts[name] = schema.CanonicalFloat(value)
		case string:
			texts[name] = value
		}
	}
	return texts
}

// Functions returns the functions that depend on this machine. interpreter returns the Python interpreter of the evaluated point; false:
// it has none.
func (m *Machine) Functions(interpreter func() (name string, is bool)) []Function {
	word := []Kind{Text}
	return []Function{
		{
			Name: "exists", Takes: word, Gives: Boolean, Meaning: "whether a file or folder exists; the path is relative to the working directory",
			Call: func(args []any) any {
				_, err := os.Stat(args[0].(string))
				return err == nil
			},
		},
		{
			Name: "version", Takes: word, Gives: Text, Meaning: "version of a Python module, for the interpreter of the point; NULL if it is not installed",
			Call: func(args []any) any {
				name, is := interpreter()
				if !is || m == nil {
					return nil
				}
				return orNil(m.version(name, args[0].(string)))
			},
		},
		{
			Name: "which", Takes: word, Gives: Text, Meaning: "path of the program that a command would start; NULL if there is none",
			Call: func(args []any) any {
				path, err := exec.LookPath(args[0].(string))
				if err != nil {
					return nil
				}
				return orNil(path)
			},
		},
	}
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// version asks each interpreter once for each module.
func (m *Machine) version(interpreter, module string) string {
	key := [2]string{interpreter, module}
	version, known := m.versions[key]
	if !known {
		version = m.sources.Version(interpreter, module)
		m.versions[key] = version
	}
	return version
}
