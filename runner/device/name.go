package device

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// CPU is the device of a sweep that measures no GPU.
const CPU = "cpu"

// GPU returns the name of the device with a UUID as reported by the driver: GPU-8932f937-... is gpu-8932f937-..., and an instance of a
// shared GPU, MIG-41d3..., is mig-41d3...
func GPU(uuid string) string {
	kind, rest, ok := strings.Cut(uuid, "-")
	if !ok || kind != "MIG" {
		kind, rest = "GPU", strings.TrimPrefix(uuid, "GPU-")
	}
	return word(strings.ToLower(kind) + "-" + rest)
}

// word makes a text fit to be the name of a file.
func word(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return r
		}
		return '_'
	}, text)
}

// Of lists the devices that a sweep measures on a machine: cpu if it is cpuOnly or no GPU is visible, else the GPUs that
// CUDA_VISIBLE_DEVICES in environ (key=value), or the variables of ROCm, make visible, else all.
func Of(env schema.Env, environ []string, cpuOnly bool) []string {
	all := gpus(env)
	if cpuOnly || len(all) == 0 {
		return []string{CPU}
	}
	if env.Facts["gpu.0.gfx"] != "" {
		return ofAMD(all, environ)
	}
	visible, limited := variable(environ, "CUDA_VISIBLE_DEVICES")
	if !limited {
		return names(all)
	}
	order, _ := variable(environ, "CUDA_DEVICE_ORDER")
	if chosen := choose(all, visible, order == "PCI_BUS_ID" || alike(all)); len(chosen) > 0 {
		return chosen
	}
	return []string{CPU}
}

// ofAMD returns the visible AMD GPUs: among the ones that ROCR_VISIBLE_DEVICES selects, the ones that HIP_VISIBLE_DEVICES selects, or
// else CUDA_VISIBLE_DEVICES, which HIP accepts instead. Both use indices in the order of the driver.
func ofAMD(all []gpu, environ []string) []string {
	if list, limited := variable(environ, "ROCR_VISIBLE_DEVICES"); limited {
		all = named(all, choose(all, list, true))
	}
	list, limited := variable(environ, "HIP_VISIBLE_DEVICES")
	if !limited {
		list, limited = variable(environ, "CUDA_VISIBLE_DEVICES")
	}
	if limited {
		all = named(all, choose(all, list, true))
	}
	if len(all) == 0 {
		return []string{CPU}
	}
	return names(all)
}

// Single is one device of a machine, and how a process is limited to it.
type Single struct {
	Name    string   // as Of returns it
	Environ []string // KEY=VALUE
}

// Each returns the devices of a list with commas: indices in the order of the driver, UUIDs or their beginnings, UUIDs of instances (MIG), or
// all for all GPUs that environ makes visible, as in Of. Others are an error.
func Each(env schema.Env, environ []string, list string) ([]Single, error) {
	every, visible := gpus(env), Of(env, environ, false)
	if len(every) == 0 {
		return nil, fmt.Errorf("this machine has no GPU that the driver names, and %q asks for some", list)
	}
	if list == "all" {
		var indices []string
		for i, g := range every {
			if slices.Contains(visible, g.name) {
				indices = append(indices, strconv.Itoa(i))
			}
		}
		list = strings.Join(indices, ",")
	}
	variable := "CUDA_VISIBLE_DEVICES"
	if env.Facts["gpu.0.gfx"] != "" {
		variable = "ROCR_VISIBLE_DEVICES"
	}
	var singles []Single
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		chosen := choose(every, entry, true)
		if len(chosen) != 1 {
			return nil, fmt.Errorf("no GPU %q: this machine has %d, numbered from 0", entry, len(every))
		}
		if !strings.HasPrefix(entry, "MIG-") && !slices.Contains(visible, chosen[0]) {
			return nil, fmt.Errorf("GPU %q is not among those that the environment makes visible (CUDA_VISIBLE_DEVICES)", entry)
		}
		one := Single{Name: chosen[0], Environ: []string{variable + "=" + entry}}
		if i := slices.IndexFunc(every, func(g gpu) bool { return g.name == one.Name }); i >= 0 {
			value := every[i].uuid // unlike an index, it does not depend on how CUDA and ROCm order devices
			if value == "" {
				value, one.Environ = strconv.Itoa(i), append(one.Environ, "CUDA_DEVICE_ORDER=PCI_BUS_ID")
			}
			one.Environ[0] = variable + "=" + value
		}
		if slices.ContainsFunc(singles, func(s Single) bool { return s.Name == one.Name }) {
			return nil, fmt.Errorf("GPU %q appears twice", entry)
		}
		singles = append(singles, one)
	}
	return singles, nil
}

// named returns the GPUs of these names, in their order.
func named(all []gpu, names []string) (chosen []gpu) {
	for _, name := range names {
		if i := slices.IndexFunc(all, func(g gpu) bool { return g.name == name }); i >= 0 {
			chosen = append(chosen, all[i])
		}
	}
	return chosen
}

// gpu is one of a machine's GPUs.
type gpu struct{ model, uuid, name string }

// gpus lists the GPUs in the order of the driver. A GPU without a known UUID is named by its index.
func gpus(env schema.Env) []gpu {
	if env.GPUCount == nil {
		return nil
	}
	var all []gpu
	for i := range *env.GPUCount {
		prefix := fmt.Sprintf("gpu.%d.", i)
		g := gpu{model: env.Facts[prefix+"name"], uuid: env.Facts[prefix+"uuid"]}
		if g.uuid != "" {
			g.name = GPU(g.uuid)
		} else {
			g.name = fmt.Sprintf("gpu-%d", i)
		}
		all = append(all, g)
	}
	return all
}

func names(all []gpu) []string {
	list := make([]string, len(all))
	for i, g := range all {
		list[i] = g.name
	}
	return list
}

func alike(all []gpu) bool {
	return !slices.ContainsFunc(all, func(g gpu) bool { return g.model != all[0].model })
}

// choose parses a list of indices, UUIDs (or their beginnings) and instances. As in CUDA, GPUs after an invalid entry are not visible.
// CUDA orders the fastest first: if that may differ from the order of the driver, an index may be any of them, so all are returned.
func choose(all []gpu, list string, ordered bool) []string {
	var chosen []string
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		index, err := strconv.Atoi(entry)
		switch {
		case err == nil && (index < 0 || index >= len(all)):
			return chosen
		case err == nil && !ordered:
			return names(all)
		case err == nil:
			chosen = append(chosen, all[index].name)
		case strings.HasPrefix(entry, "MIG-"):
			chosen = append(chosen, GPU(entry))
		default:
			i := slices.IndexFunc(all, func(g gpu) bool { return entry != "" && strings.HasPrefix(g.uuid, entry) })
			if i < 0 {
				return chosen
			}
			chosen = append(chosen, all[i].name)
		}
	}
	return chosen
}

// variable returns the value of a variable, which is its last entry, and whether it is set.
func variable(environ []string, name string) (value string, ok bool) {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
