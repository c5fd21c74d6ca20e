package probe

import (
	"os"
	"strconv"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// stateGetters are read once a session and around every run.
var stateGetters = []deviceGetter{
	{"clock_sm", clock(nvml.Device.GetClockInfo, nvml.CLOCK_SM)},
	{"temperature", decimal(func(d nvml.Device) (uint32, nvml.Return) {
		return d.GetTemperature(nvml.TEMPERATURE_GPU)
	})},
	{"throttle", throttle(nvml.Device.GetCurrentClocksEventReasons)},
	{"throttle", throttle(nvml.Device.GetCurrentClocksThrottleReasons)}, // before R535
}

// counterGetters only say something as a difference.
var counterGetters = []deviceGetter{
	{"throttled_power" + total, violation(nvml.PERF_POLICY_POWER)},
	{"throttled_thermal" + total, violation(nvml.PERF_POLICY_THERMAL)},
}

// throttleReasons are the reasons for a lower clock that disturb a measurement. Being idle, and a clock that somebody
// has set, do not.
var throttleReasons = []struct {
	bit  uint64
	word string
}{
	{nvml.ClocksEventReasonSwPowerCap, "power_cap"},
	{nvml.ClocksThrottleReasonHwSlowdown, "hardware_slowdown"},
	{nvml.ClocksEventReasonSwThermalSlowdown, "thermal"},
	{nvml.ClocksThrottleReasonHwThermalSlowdown, "hardware_thermal"},
	{nvml.ClocksThrottleReasonHwPowerBrakeSlowdown, "power_brake"},
}

func throttle(get func(nvml.Device) (uint64, nvml.Return)) func(nvml.Device) (string, nvml.Return) {
	return func(d nvml.Device) (string, nvml.Return) {
		bits, ret := get(d)
		var words []string
		for _, reason := range throttleReasons {
			if bits&reason.bit != 0 {
				words = append(words, reason.word)
			}
		}
		if len(words) == 0 {
			return none, ret
		}
		return strings.Join(words, " "), ret
	}
}

// violation returns for how long, in ns, a limit has held the clock down.
func violation(limit nvml.PerfPolicyType) func(nvml.Device) (string, nvml.Return) {
	return func(d nvml.Device) (string, nvml.Return) {
		status, ret := d.GetViolationStatus(limit)
		return strconv.FormatUint(status.ViolationTime, 10), ret
	}
}

// readProcesses reads who computes on a device: processes, how many, and foreign, those that are not below the
// process that started this one.
func (d driver) readProcesses(prefix string, device nvml.Device) {
	infos, ret := device.GetComputeRunningProcesses()
	var pids []int
	for _, info := range infos {
		pids = append(pids, int(info.Pid))
	}
	d.note(prefix+".processes", strconv.Itoa(len(pids)), ret)
	d.note(prefix+".foreign", foreign(systemRoot(), pids, os.Getppid()), ret)
}

// driverState opens the driver and gives a function that reads what changes about its devices.
func driverState(library string) func() Devices {
	d, ret := openDriver(library)
	return func() Devices {
		d.facts = newFacts()
		if ret != nvml.SUCCESS {
			d.facts.miss("gpu", why(ret))
		} else {
			d.eachDevice(func(prefix string, device nvml.Device) {
				d.readFacts(prefix, device, stateGetters)
				d.readFacts(prefix, device, counterGetters)
				d.readProcesses(prefix, device)
			})
		}
		return Devices{Facts: d.facts.known, Missing: d.facts.missing}
	}
}
