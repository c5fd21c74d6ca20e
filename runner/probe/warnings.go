package probe

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/schema"
)

// The words of warning for what disturbed a run from outside.
const (
	WarnLoad       = "load"        // more wanted to run than the machine has processors when the run began
	WarnGovernor   = "governor"    // the clock of the processor follows the load
	WarnThrottled  = "throttled"   // heat or a power limit held the clock of the processor or a GPU down
	WarnForeignGPU = "foreign_gpu" // a process that is not the benchmark's computed on a GPU
)

// Warnings returns the warnings for a run, sorted. env describes the session, facts are those of Between, and devices, as named by
// device.Of, are those that were measured; other GPUs are ignored. No devices means all.
func Warnings(env schema.Env, facts map[string]string, devices []string) []string {
	var words []string
	if load, err := strconv.ParseFloat(facts["load.1m"], 64); err == nil && env.CPUCount != nil && load > float64(*env.CPUCount) {
		words = append(words, WarnLoad)
	}
	if governor := env.Facts["cpu.governor"]; governor != "" && governor != bestGovernor {
		words = append(words, WarnGovernor)
	}
	throttled := above(facts["cpu.throttles"], 0)
	foreign := false
	for i := range count(env.GPUCount) {
		prefix := fmt.Sprintf("gpu.%d.", i)
		if len(devices) > 0 && !slices.Contains(devices, device.GPU(env.Facts[prefix+"uuid"])) {
			continue
		}
		const brief = 10e6 // ns for which a limit may hold without being seen in a run
		throttled = throttled || some(facts[prefix+"throttle"]) ||
			above(facts[prefix+"throttled_power"], brief) || above(facts[prefix+"throttled_thermal"], brief)
		foreign = foreign || some(facts[prefix+"foreign"])
	}
	if throttled {
		words = append(words, WarnThrottled)
	}
	if foreign {
		words = append(words, WarnForeignGPU)
	}
	slices.Sort(words)
	return words
}

// above reports whether a fact is known to be a number above a limit.
func above(value string, limit float64) bool {
	n, err := strconv.ParseFloat(value, 64)
	return err == nil && n > limit
}

// some reports whether a list is known to have something in it.
func some(list string) bool { return list != "" && list != none }

func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
