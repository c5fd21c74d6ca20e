package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/runner/tune"
	"github.com/neurolens/neurolens/schema"
)

// bestGovernor keeps the clock of the processor where it is.
const bestGovernor = "performance"

// busiest are the processes that use the processors most.
const busiest = "ps -eo pid,user,pcpu,args --sort=-pcpu | head"

// hostChecks are the questions about the machine itself.
var hostChecks = []check{
	{
		name: "governor", facts: []string{"cpu.governor"}, judge: func(s seen) verdict { return fineIf(s.value == bestGovernor, s.value) },
		why:     "the clock follows the load: short runs, and the first iterations, are slower",
		tune:    tune.Governor,
		command: "sudo cpupower frequency-set -g performance",
	},
	{
		name: "boost", facts: []string{"cpu.boost"}, judge: judgeBoost,
		why:     "the clock depends on the temperature and on how many cores are busy",
		tune:    tune.Turbo,
		command: "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
	},
	{
		name: "smt", facts: []string{"cpu.smt"}, judge: judgeSMT,
		why:     "two threads share a core: each is slower while the other works",
		tune:    tune.SMT,
		command: "echo off | sudo tee /sys/devices/system/cpu/smt/control",
	},
	{
		name: "aslr", facts: []string{"aslr"}, judge: judgeASLR,
		why:     "memory addresses differ between runs; only repeats average this out",
		tune:    tune.ASLR,
		command: `setarch -R "$SHELL"`,
	},
	{
		name: "thp", facts: []string{"thp"}, judge: func(s seen) verdict { return fineIf(s.value != "always", s.value) },
		why:     "whether a run gets huge pages depends on earlier programs",
		command: "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
	},
	{
		name: "numa_balancing", facts: []string{"numa.balancing"}, judge: judgeNUMABalancing,
		why:     "the kernel moves memory between NUMA nodes during a run",
		command: "echo 0 | sudo tee /proc/sys/kernel/numa_balancing",
	},
	{
		name: "clocksource", facts: []string{"clocksource"}, judge: judgeClocksource,
		why:     "reading the clock needs a system call, which adds to short iterations",
		command: "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current*",
	},
	{
		name: "load", facts: []string{"load.1m"}, judge: judgeLoad,
		why:     "other work takes processor time, caches and memory bandwidth",
		command: busiest,
	},
	{
		name: "pressure", facts: []string{"psi.cpu_some_avg10", "psi.memory_some_avg10", "psi.io_some_avg10"}, judge: judgePressure,
		why:     "processes are waiting for resources right now",
		command: busiest,
	},
	{
		name: "swap", facts: []string{"memory.swap_used"}, judge: judgeSwap,
		why:     "reading memory back from the disk is slow",
		command: "sudo swapoff -a && sudo swapon -a",
	},
	{
		name: "throttling", facts: []string{"cpu.throttles_since_boot"},
		judge:  func(s seen) verdict { return fineIf(s.value == "0", s.value+" times since the start") },
		why:    "cores got too hot and were slowed down",
		remedy: "no command helps: improve the cooling, or make longer pauses",
	},
	{
		name: "battery", facts: []string{"power.battery"}, judge: func(s seen) verdict { return fineIf(s.value != "discharging", s.value) },
		why:    "a machine that runs on its battery saves power",
		remedy: "no command helps: plug it in",
	},
	{
		name: "virtualization", facts: []string{"virtualization"}, judge: func(s seen) verdict { return fineIf(s.value == none, s.value) },
		why:    "the clock settings and other guests of the host are not visible here",
		remedy: "no command helps: compare within one session, with bench --against",
	},
	{
		name: "steal", facts: []string{"cpu.steal_since_boot"}, judge: judgeSteal,
		why:    "the host gave processor time to other guests",
		remedy: "only the host can change this: use a machine with dedicated processors",
	},
	{
		name: "cpu_limit", facts: []string{"cgroup.cpu_max"}, judge: judgeCPULimit,
		why:    "when the limit is used up, everything stops for the rest of 100 ms",
		remedy: "no command inside helps: use docker run --cpuset-cpus instead of --cpus",
	},
	{
		name: "memory_limit", facts: []string{"cgroup.memory_max"}, judge: judgeMemoryLimit,
		why:    "a run that needs more is killed, and file caches are dropped before that",
		remedy: "no command inside helps: use docker run without --memory",
	},
	{
		name: "affinity", facts: []string{"cpu.affinity"}, judge: judgeAffinity,
		why: "a library that counts all processors starts too many threads",
	},
}

func judgeBoost(s seen) verdict {
	v := fineIf(s.value == "false", onOff(s.value))
	if strings.HasPrefix(s.fact("cpu.scaling_driver"), "intel_") {
		v.command = "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
	}
	return v
}

// judgeSMT is unknown in a virtual machine with one thread per core, because it cannot see the host's threads.
func judgeSMT(s seen) verdict {
	if s.value == "false" && s.fact("virtualization") != none {
		return verdict{state: StateUnknown}
	}
	return fineIf(s.value == "false", onOff(s.value))
}

func judgeASLR(s seen) verdict {
	if s.value == "0" || s.fact("aslr.process") == "false" {
		return fineIf(true, "off")
	}
	return fineIf(false, "on")
}

func judgeNUMABalancing(s seen) verdict {
	nodes, known := s.number("numa.nodes")
	return fineIf(s.value == "0" || known && nodes < 2, s.value)
}

// judgeClocksource accepts the clocks that are read without a system call.
func judgeClocksource(s seen) verdict {
	fast := []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod"}
	return fineIf(slices.Contains(fast, s.value), s.value)
}

// judgeLoad accepts that a tenth of the processors is busy, and half a processor on small machines.
func judgeLoad(s seen) verdict {
	load, known := s.number("load.1m")
	if !known || s.env.CPUCount == nil {
		return unclear(s.value)
	}
	cpus := float64(*s.env.CPUCount)
	return fineIf(load <= max(0.5, cpus/10), fmt.Sprintf("%s on %s", s.value, processors(cpus)))
}

// judgePressure accepts a twentieth of the time.
func judgePressure(s seen) verdict {
	const bearable = 5 // percent
	var waits []string
	fine := true
	for _, what := range []string{"cpu", "memory", "io"} {
		if share, known := s.number("psi." + what + "_some_avg10"); known {
			waits = append(waits, fmt.Sprintf("%s %.3g %%", what, share))
			fine = fine && share <= bearable
		}
	}
	return fineIf(fine, strings.Join(waits, ", ")+" of 10 s")
}

// judgeSwap accepts a hundredth of the memory: these pages may never be read again.
func judgeSwap(s seen) verdict {
	used, known := s.number("memory.swap_used")
	if !known {
		return unclear(s.value)
	}
	fine := used == 0 || s.env.MemoryBytes != nil && used <= float64(*s.env.MemoryBytes)/100
	return fineIf(fine, schema.ForPeople(used, "B"))
}

func judgeSteal(s seen) verdict {
	const bearable = 1 // percent
	share, known := s.number("cpu.steal_since_boot")
	if !known {
		return unclear(s.value)
	}
	return fineIf(share <= bearable, fmt.Sprintf("%.2g %% since the start", share))
}

func judgeCPULimit(s seen) verdict {
	if s.value == unlimited {
		return fineIf(true, none)
	}
	limit, known := s.number("cgroup.cpu_max")
	if !known || s.env.CPUCount == nil {
		return unclear(s.value)
	}
	return fineIf(limit >= float64(*s.env.CPUCount), processors(limit))
}

func judgeMemoryLimit(s seen) verdict {
	if s.value == unlimited {
		return fineIf(true, none)
	}
	limit, known := s.number("cgroup.memory_max")
	if !known || s.env.MemoryBytes == nil {
		return unclear(s.value)
	}
	return fineIf(limit >= float64(*s.env.MemoryBytes), schema.ForPeople(limit, "B"))
}

// judgeAffinity advises if the process may not use all processors and OMP_NUM_THREADS does not inform libraries about it.
func judgeAffinity(s seen) verdict {
	cpus, err := cpuList(s.value)
	if err != nil || s.env.CPUCount == nil {
		return unclear(s.value)
	}
	v := fineIf(int64(len(cpus)) >= *s.env.CPUCount || s.fact("env.OMP_NUM_THREADS") != "",
		fmt.Sprintf("%d of %s", len(cpus), processors(float64(*s.env.CPUCount))))
	v.command = "export OMP_NUM_THREADS=" + strconv.Itoa(len(cpus))
	return v
}

func processors(n float64) string {
	text := strconv.FormatFloat(n, 'f', -1, 64)
	if n == 1 {
		return text + " processor"
	}
	return text + " processors"
}

// deviceChecks are the questions about one GPU.
var deviceChecks = []check{
	{
		name: "persistence", facts: []string{"persistence"}, judge: func(s seen) verdict { return fineIf(s.value == "true", onOff(s.value)) },
		why:     "the driver starts again for each run, which can take seconds",
		command: "sudo nvidia-smi -i {gpu} -pm 1",
	},
	{
		name: "processes", facts: []string{"foreign"}, judge: func(s seen) verdict { return fineIf(s.value == none, s.value) },
		why:     "another process uses this GPU",
		command: "nvidia-smi -i {gpu} --query-compute-apps=pid,name,used_memory --format=csv",
	},
	{
		name: "throttle", facts: []string{"throttle"}, judge: func(s seen) verdict { return fineIf(s.value == none, s.value) },
		why:     "heat or a power limit lowers its clock",
		command: "nvidia-smi -i {gpu} -q -d PERFORMANCE,TEMPERATURE,POWER",
	},
	{
		name: "clocks", facts: []string{"clock_sm", "clock_sm_max"}, judge: judgeDeviceClocks,
		why: "the driver does not report a lock; an unlocked clock depends on temperature",
	},
	{
		name: "power_limit", facts: []string{"power_limit"}, judge: judgePowerLimit,
		why: "its power limit is below the default, which lowers its clock",
	},
}

// judgeDeviceClocks always returns unknown: the driver accepts a locked clock and does not report it.
func judgeDeviceClocks(s seen) verdict {
	now, highest := s.fact(s.prefix+"clock_sm"), s.fact(s.prefix+"clock_sm_max")
	v := unclear(now + " MHz")
	if highest != "" {
		v = unclear(cmp.Or(now, "?") + " of " + highest + " MHz")
	}
	v.command = "sudo nvidia-smi -i {gpu} --lock-gpu-clocks=tdp,tdp"
	return v
}

func judgePowerLimit(s seen) verdict {
	limit, known := s.number(s.prefix + "power_limit")
	usual, usualKnown := s.number(s.prefix + "power_limit_default")
	if !known || !usualKnown {
		return unclear(s.value)
	}
	v := fineIf(limit >= usual, fmt.Sprintf("%s of %s", schema.ForPeople(limit, "mW"), schema.ForPeople(usual, "mW")))
	v.command = fmt.Sprintf("sudo nvidia-smi -i {gpu} -pl %.0f", usual/1000)
	return v
}

// The states of an Advice.
const (
	StateOK      = "ok"
	StateAdvice  = "advice"  // it disturbs measurements
	StateUnknown = "unknown" // unknown is not fine
)

// Advice is the result of one check of a machine as a place to measure.
type Advice struct {
	Check   string
	State   string
	Value   string // the observed value, as text; empty: not known
	Missing string // why it is not known: absent, permission, unsupported, timeout
	Why     string // its effect on measurements; empty: it is fine
	Command string // a command that helps, ready to be pasted; empty: none
	Remedy  string // what to do instead, and why no command helps; empty: there is a command, or nothing to do
	Tune    string // the setting of bench --tune that helps while it measures; empty: none
}

// check is one question about a machine.
type check struct {
	name    string
	facts   []string // the facts that it uses; if all are unknown, the answer is unknown
	why     string
	command string // may hold {gpu}, the index of the GPU
	judge   func(seen) verdict
	remedy  string // the remedy if no command helps, and why none does
	tune    string // see Advice
}

// seen are the facts that a check uses. The prefix is gpu.N. for a check of a GPU.
type seen struct {
	env    schema.Env
	prefix string
	value  string // the first of the check's facts, or empty
}

func (s seen) fact(name string) string { return s.env.Facts[name] }

// number returns a fact as a number; known is false if it is not one.
func (s seen) number(name string) (n float64, known bool) {
	n, err := strconv.ParseFloat(s.env.Facts[name], 64)
	return n, err == nil
}

// verdict is the conclusion of a check.
type verdict struct {
	state   string
	value   string
	command string // overrides the command of the check; the only one if the state is unknown
}

// fineIf returns the verdict for a value that is fine or not.
func fineIf(fine bool, value string) verdict {
	if fine {
		return verdict{state: StateOK, value: value}
	}
	return verdict{state: StateAdvice, value: value}
}

// Advise judges a machine by the facts that Read returns, in a fixed order. Checks of GPUs are made for each NVIDIA GPU.
func Advise(env schema.Env) []Advice {
	var advice []Advice
	for _, c := range hostChecks {
		advice = append(advice, c.apply(env, ""))
	}
	if why := env.Missing["gpu"]; why != "" && why != absent {
		advice = append(advice, Advice{
			Check: "gpu", State: StateUnknown, Missing: why, Why: "the GPUs, and the processes that use them, could not be read",
		})
	}
	for i := range count(env.GPUCount) {
		if env.Facts[fmt.Sprintf("gpu.%d.gfx", i)] != "" {
			continue // only NVIDIA's driver has the answer
		}
		for _, c := range deviceChecks {
			advice = append(advice, c.apply(env, fmt.Sprintf("gpu.%d.", i)))
		}
	}
	return advice
}

func (c check) apply(env schema.Env, prefix string) Advice {
	a := Advice{Check: prefix + c.name, Why: c.why}
	v := verdict{state: StateUnknown}
	if slices.ContainsFunc(c.facts, func(fact string) bool { return env.Facts[prefix+fact] != "" }) {
		v = c.judge(seen{env: env, prefix: prefix, value: env.Facts[prefix+c.facts[0]]})
	} else {
		a.Missing = env.Missing[prefix+c.facts[0]]
	}
	a.State, a.Value = v.state, v.value
	switch a.State {
	case StateOK:
		a.Why = ""
	case StateAdvice:
		v.command, a.Remedy, a.Tune = cmp.Or(v.command, c.command), c.remedy, c.tune
		fallthrough
	case StateUnknown:
		index := strings.TrimSuffix(strings.TrimPrefix(prefix, "gpu."), ".")
		a.Command = strings.ReplaceAll(v.command, "{gpu}", index)
	}
	if a.State == StateUnknown {
		a.Missing = cmp.Or(a.Missing, unsupported)
	}
	return a
}

// unclear returns the verdict if the facts do not answer the question.
func unclear(value string) verdict { return verdict{state: StateUnknown, value: value} }

// AdviseCounters judges which events can be counted for processes of this one.
func AdviseCounters(counters []counter.Counter) Advice {
	a := Advice{Check: "counters", State: StateOK}
	var there, gone, user []string
	for _, c := range counters {
		switch {
		case c.Missing != "":
			gone = append(gone, c.Name)
			_, help, _ := strings.Cut(c.Missing, ": ")
			if strings.HasPrefix(help, "sudo ") {
				a.Command = help
			} else {
				a.Remedy = "no command helps: " + help
			}
			continue
		case c.UserOnly:
			user = append(user, c.Name)
		}
		there = append(there, c.Name)
	}
	a.Value = cmp.Or(strings.Join(there, " "), none)
	switch {
	case gone != nil:
		a.State, a.Why = StateAdvice, "bench --counters cannot count "+strings.Join(gone, ", ")
	case user != nil:
		a.State, a.Why = StateAdvice, "bench --counters leaves out what happens in the kernel"
		a.Command = "sudo sysctl kernel.perf_event_paranoid=1"
	}
	if a.Command != "" {
		a.Remedy = ""
	}
	return a
}

// onOff returns a flag for people.
func onOff(flag string) string {
	if flag == "true" {
		return "on"
	}
	return "off"
}

// The warnings about disturbances of a run from outside.
const (
	WarnLoad       = "load"        // more processes were runnable than the machine has processors when the run began
	WarnGovernor   = "governor"    // the clock of the processor follows the load
	WarnThrottled  = "throttled"   // heat or a power limit held the clock of the processor or a GPU down
	WarnForeignGPU = "foreign_gpu" // a process that is not the benchmark's computed on a GPU
)

// rareThrottling is the share of readings, in percent, up to which a lowered clock has no effect on a run.
const rareThrottling = 1

// Warnings returns the warnings for a run, sorted. env describes the session, facts are the result of Between and the facts of readings,
// and devices, as named by device.Of, are the measured devices; other GPUs are ignored. No devices means all.
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
		const brief = 10e6 // ns for which a limit may be active without an effect on a run
		throttled = throttled || some(facts[prefix+"throttle"]) ||
			above(facts[prefix+"throttled_power"], brief) || above(facts[prefix+"throttled_thermal"], brief)
		foreign = foreign || some(facts[prefix+"foreign"])
	}
	for name, share := range facts { // of the readings of measured devices
		throttled = throttled || strings.HasPrefix(name, throttleShare) && above(share, rareThrottling)
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

// some reports whether a list is known and not empty.
func some(list string) bool { return list != "" && list != none }

func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
