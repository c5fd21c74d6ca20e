package probe

import (
	"cmp"
	"fmt"

	"github.com/neurolens/neurolens/schema"
)

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
