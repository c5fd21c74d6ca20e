package expression

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/schema"
)

// absent is the reason for a fact that this machine does not have; see package probe.
const absent = "absent"

// reading takes facts from the description of an environment.
type reading struct {
	env     schema.Env
	environ []string // key=value
}

// why returns the reason why a fact of the environment is not known.
func (r *reading) why(names ...string) string {
	for _, name := range names {
		if why := r.env.Missing[name]; why != "" {
			return why
		}
	}
	return absent
}

// number returns a fact of the environment; NaN and the reason if it is not known.
func (r *reading) number(name string) (float64, string) {
	value, err := strconv.ParseFloat(r.env.Facts[name], 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return math.NaN(), r.why(name)
	}
	return value, ""
}

func number(name string) func(*reading) (any, string) {
	return func(r *reading) (any, string) { return known(r.number(name)) }
}

// known returns a number, or NULL if there is a reason why it is unknown.
func known(value float64, why string) (any, string) {
	if why != "" {
		return nil, why
	}
	return value, ""
}

func text(name string) func(*reading) (any, string) {
	return func(r *reading) (any, string) {
		if value := r.env.Facts[name]; value != "" {
			return value, ""
		}
		return nil, r.why(name)
	}
}

// system marks a fact that is known without a manifest; see Machine.Value.
func system(*reading) (any, string) { return nil, absent }

var systems = map[string]string{"arch": runtime.GOARCH, "os": runtime.GOOS}

// memory returns the memory of the system, or the limit of the control group if that is less.
func memory(r *reading) (any, string) {
	total, why := r.number("memory.total")
	limit, unlimited := r.number("cgroup.memory_max")
	if unlimited == "" && (why != "" || limit < total) {
		return limit, ""
	}
	return known(total, why)
}

// gpus returns the prefixes of the facts of the visible GPUs: gpu.0, gpu.1. why is the reason if that is not known. An instance of a
// shared GPU counts, and has no facts.
func (r *reading) gpus() (prefixes []string, why string) {
	if r.env.GPUCount == nil {
		if why := r.env.Missing["gpu"]; why != absent && !(why == "unsupported" && r.env.OS != "linux") {
			return nil, r.why("gpu", "gpu.count")
		}
		return nil, ""
	}
	visible := device.Of(r.env, r.environ, false)
	for i := range *r.env.GPUCount {
		prefix := fmt.Sprintf("gpu.%d", i)
		name := fmt.Sprintf("gpu-%d", i)
		if uuid := r.env.Facts[prefix+".uuid"]; uuid != "" {
			name = device.GPU(uuid)
		}
		if at := slices.Index(visible, name); at >= 0 {
			prefixes = append(prefixes, prefix)
			visible = slices.Delete(visible, at, at+1)
		}
	}
	for _, other := range visible {
		if strings.HasPrefix(other, "mig-") {
			prefixes = append(prefixes, other)
		}
	}
	return prefixes, ""
}

func gpuCount(r *reading) (any, string) {
	gpus, why := r.gpus()
	return known(float64(len(gpus)), why)
}

// textOfGPUs returns the values of a fact of the GPUs, without repetition; NULL if it is unknown for one of them.
func textOfGPUs(fact string) func(*reading) (any, string) {
	return func(r *reading) (any, string) {
		gpus, why := r.gpus()
		var texts []string
		for _, gpu := range gpus {
			text := r.env.Facts[gpu+fact]
			if text == "" {
				return nil, r.why(gpu+fact, gpu)
			}
			texts = append(texts, text)
		}
		if len(texts) == 0 {
			return nil, cmp.Or(why, absent)
		}
		slices.Sort(texts)
		return strings.Join(slices.Compact(texts), ", "), ""
	}
}

// minOfGPUs returns the smallest value of the GPUs; NULL if it is unknown for one of them.
func minOfGPUs(of func(r *reading, gpu string) (float64, string)) func(*reading) (any, string) {
	return func(r *reading) (any, string) {
		gpus, why := r.gpus()
		smallest := math.Inf(1)
		for _, gpu := range gpus {
			value, why := of(r, gpu)
			if why != "" {
				return nil, why
			}
			smallest = min(smallest, value)
		}
		if math.IsInf(smallest, 1) {
			return nil, cmp.Or(why, absent)
		}
		return smallest, ""
	}
}

// minHBMWidth is the smallest width, in bits, of the bus of HBM. Other kinds of memory have a narrower bus.
const minHBMWidth = 1024

// peakBandwidth is computed as in NVIDIA's deviceQuery: two transfers per clock, over the whole width of the bus. For AMD this is right
// only for HBM: for GDDR, the driver reports a clock that is an unknown fraction of the transfer rate.
func peakBandwidth(r *reading, gpu string) (float64, string) {
	clock, why := r.number(gpu + ".clock_memory_max") // MHz
	if why != "" {
		return 0, why
	}
	width, why := r.number(gpu + ".memory_bus_width") // bits
	if why == "" && width < minHBMWidth && r.env.Facts[gpu+".gfx"] != "" {
		return 0, "unsupported"
	}
	return 2 * clock * 1e6 * width / 8, why
}

// resolveName makes one identifier of gpu.memory and of param["kv-heads"].
func (c *compilation) resolveName(n ast.Node) (ast.Node, error) {
	first, words := c.words(n)
	if words == nil {
		return nil, c.errorf(n, "a value has no parts: want a name such as batch_size or param[\"kv-heads\"]")
	}
	name := strings.Join(words, ".")
	_, known := c.scope.Names[name]
	switch {
	case known:
	case name == "null" || name == "NULL":
		return at(first, &ast.NilNode{}), nil
	default:
		return nil, c.noName(first, name)
	}
	if !slices.Contains(c.names, name) {
		c.names = append(c.names, name)
	}
	return at(first, &ast.IdentifierNode{Value: name}), nil
}

// words returns the words of a name, and its first node; nil if the node is no name.
func (c *compilation) words(n ast.Node) (first ast.Node, words []string) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n, []string{n.Value}
	case *ast.MemberNode:
		property, ok := n.Property.(*ast.StringNode)
		first, words = c.words(n.Node)
		if !ok || n.Optional || words == nil {
			return n, nil
		}
		return first, append(words, property.Value)
	}
	return n, nil
}

// noName returns the error for an unknown name, with a suggestion.
func (c *compilation) noName(at ast.Node, name string) error {
	if instead, unclear := c.scope.Unclear[name]; unclear {
		return c.errorf(at, "%s", instead)
	}
	names := slices.Sorted(maps.Keys(c.scope.Names))
	if near := schema.Nearest(name, names); near != "" {
		return c.errorf(at, "unknown name %s: did you mean %s?", shorten(name), near)
	}
	var below []string
	for _, other := range names {
		if strings.HasPrefix(other, name+".") {
			below = append(below, other)
		}
	}
	if len(below) > 0 {
		return c.errorf(at, "%s is not a value: want one of %s", shorten(name), strings.Join(below, " "))
	}
	if _, is := c.functions[name]; is {
		return c.errorf(at, "%s is a function: want %s(...)", name, name)
	}
	return c.errorf(at, "unknown name %s", shorten(name))
}

// resolveFunction finds the function of a call.
func (c *compilation) resolveFunction(n *ast.CallNode) error {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return c.errorf(n, "a value cannot be called")
	}
	f, known := c.functions[callee.Value]
	if !known {
		return c.noFunction(n, callee.Value)
	}
	if few := len(n.Arguments) < len(f.Takes); few || len(n.Arguments) > len(f.Takes) && !f.Variadic {
		return c.errorf(callee, "%s, got %d", f.wants(), len(n.Arguments))
	}
	n.Callee = at(callee, &ast.IdentifierNode{Value: called(f.Name)})
	return nil
}

func (c *compilation) noFunction(at ast.Node, name string) error {
	var names []string
	for _, f := range c.functions {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	if near := schema.Nearest(name, names); near != "" {
		return c.errorf(at, "unknown function %s: did you mean %s?", shorten(name), near)
	}
	return c.errorf(at, "unknown function %s: want one of %s", shorten(name), strings.Join(names, " "))
}

func shorten(text string) string {
	const maxRunes = 40
	if runes := []rune(text); len(runes) > maxRunes {
		return string(runes[:maxRunes]) + "…"
	}
	return text
}
