package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// bestGovernor keeps the clock of the processor where it is.
const bestGovernor = "performance"

// busiest are the processes that use the processors most.
const busiest = "ps -eo pid,user,pcpu,args --sort=-pcpu | head"

// hostChecks are the questions about the machine itself.
var hostChecks = []check{
	{
		"governor",
		[]string{"cpu.governor"},
		"the clock follows the load: short runs, and the first iterations, are slower",
		"sudo cpupower frequency-set -g performance", judgeGovernor, "",
	},
	{
		"boost",
		[]string{"cpu.boost"},
		"the clock depends on the temperature and on how many cores are busy",
		"echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost", judgeBoost, "",
	},
	{
		"smt",
		[]string{"cpu.smt"},
		"two threads share a core: each is slower while the other works",
		"echo off | sudo tee /sys/devices/system/cpu/smt/control", judgeSMT, "",
	},
	{
		"aslr",
		[]string{"aslr"},
		"memory addresses differ between runs; only repeats average this out",
		`setarch -R "$SHELL"`, judgeASLR, "",
	},
	{
		"thp",
		[]string{"thp"},
		"whether a run gets huge pages depends on earlier programs",
		"echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
		func(s seen) verdict { return fineIf(s.value != "always", s.value) }, "",
	},
	{
		"numa_balancing",
		[]string{"numa.balancing"},
		"the kernel moves memory between NUMA nodes during a run",
		"echo 0 | sudo tee /proc/sys/kernel/numa_balancing", judgeNUMABalancing, "",
	},
	{
		"clocksource",
		[]string{"clocksource"},
		"reading the clock needs a system call, which adds to short iterations",
		"echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current*", judgeClocksource, "",
	},
	{
		"load",
		[]string{"load.1m"},
		"other work takes processor time, caches and memory bandwidth",
		busiest, judgeLoad, "",
	},
	{
		"pressure",
		[]string{"psi.cpu_some_avg10", "psi.memory_some_avg10", "psi.io_some_avg10"},
		"processes are waiting for resources right now", busiest, judgePressure, "",
	},
	{
		"swap",
		[]string{"memory.swap_used"},
		"reading memory back from the disk is slow",
		"sudo swapoff -a && sudo swapon -a", judgeSwap, "",
	},
	{
		"throttling",
		[]string{"cpu.throttles_since_boot"},
		"cores got too hot and were slowed down",
		"", judgeThrottling, "no command helps: improve the cooling, or make longer pauses",
	},
	{
		"battery",
		[]string{"power.battery"},
		"a machine that runs on its battery saves power",
		"", func(s seen) verdict { return fineIf(s.value != "discharging", s.value) }, "no command helps: plug it in",
	},
	{
		"virtualization",
		[]string{"virtualization"},
		"the clock settings and other guests of the host are not visible here",
		"", func(s seen) verdict { return fineIf(s.value == none, s.value) },
		"no command helps: compare within one session, with bench --against",
	},
	{
		"steal",
		[]string{"cpu.steal_since_boot"},
		"the host gave processor time to other guests",
		"", judgeSteal, "only the host can change this: use a machine with dedicated processors",
	},
	{
		"cpu_limit",
		[]string{"cgroup.cpu_max"},
		"when the limit is used up, everything stops for the rest of 100 ms",
		"", judgeCPULimit, "no command inside helps: use docker run --cpuset-cpus instead of --cpus",
	},
	{
		"memory_limit",
		[]string{"cgroup.memory_max"},
		"a run that needs more is killed, and file caches are dropped before that",
		"", judgeMemoryLimit, "no command inside helps: use docker run without --memory",
	},
	{
		"affinity",
		[]string{"cpu.affinity"},
		"a library that counts all processors starts too many threads",
		"", judgeAffinity, "",
	},
}

func judgeGovernor(s seen) verdict { return fineIf(s.value == bestGovernor, s.value) }

func judgeBoost(s seen) verdict {
	v := fineIf(s.value == "false", onOff(s.value))
	if strings.HasPrefix(s.fact("cpu.scaling_driver"), "intel_") {
		v.command = "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
	}
	return v
}

// judgeSMT does not believe a virtual machine that has one thread a core: those of the host it cannot see.
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

// judgeLoad bears a tenth of the processors being busy, and half a processor on small machines.
func judgeLoad(s seen) verdict {
	load, known := s.number("load.1m")
	if !known || s.env.CPUCount == nil {
		return unclear(s.value)
	}
	cpus := float64(*s.env.CPUCount)
	return fineIf(load <= max(0.5, cpus/10), fmt.Sprintf("%s on %s", s.value, processors(cpus)))
}

// judgePressure bears a twentieth of the time.
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

// judgeSwap bears a hundredth of the memory: what is never read again may lie there.
func judgeSwap(s seen) verdict {
	used, known := s.number("memory.swap_used")
	if !known {
		return unclear(s.value)
	}
	fine := used == 0 || s.env.MemoryBytes != nil && used <= float64(*s.env.MemoryBytes)/100
	return fineIf(fine, schema.ForPeople(used, "B"))
}

func judgeThrottling(s seen) verdict { return fineIf(s.value == "0", s.value+" times since the start") }

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

// judgeAffinity minds being kept from processors only where nobody has told the libraries.
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
		"persistence",
		[]string{"persistence"},
		"the driver starts again for each run, which can take seconds",
		"sudo nvidia-smi -i {gpu} -pm 1",
		func(s seen) verdict { return fineIf(s.value == "true", onOff(s.value)) }, "",
	},
	{
		"processes",
		[]string{"foreign"},
		"another process uses this GPU",
		"nvidia-smi -i {gpu} --query-compute-apps=pid,name,used_memory --format=csv",
		func(s seen) verdict { return fineIf(s.value == none, s.value) }, "",
	},
	{
		"throttle",
		[]string{"throttle"},
		"heat or a power limit lowers its clock",
		"nvidia-smi -i {gpu} -q -d PERFORMANCE,TEMPERATURE,POWER",
		func(s seen) verdict { return fineIf(s.value == none, s.value) }, "",
	},
	{
		"clocks",
		[]string{"clock_sm", "clock_sm_max"},
		"the driver does not report a lock; an unlocked clock depends on temperature",
		"", judgeDeviceClocks, "",
	},
	{
		"power_limit",
		[]string{"power_limit"},
		"its power limit is below the default, which lowers its clock",
		"", judgePowerLimit, "",
	},
}

// judgeDeviceClocks has no answer: the driver takes a locked clock and does not tell of it.
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
