package probe

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// deviceGetter is a fact of one GPU.
type deviceGetter struct {
	name string
	get  func(nvml.Device) (string, nvml.Return)
}

// deviceGetters are read once a session.
var deviceGetters = []deviceGetter{
	{"name", nvml.Device.GetName},
	{"uuid", nvml.Device.GetUUID},
	{"vbios", nvml.Device.GetVbiosVersion},
	{"pci", pciBus},
	{"pcie.generation_max", decimal(nvml.Device.GetMaxPcieLinkGeneration)},
	{"pcie.width_max", decimal(nvml.Device.GetMaxPcieLinkWidth)},
	{"pcie.width", decimal(nvml.Device.GetCurrPcieLinkWidth)},
	{"memory", func(d nvml.Device) (string, nvml.Return) {
		memory, ret := d.GetMemoryInfo()
		return strconv.FormatUint(memory.Total, 10), ret
	}},
	{"compute_capability", func(d nvml.Device) (string, nvml.Return) {
		major, minor, ret := d.GetCudaComputeCapability()
		return fmt.Sprintf("%d.%d", major, minor), ret
	}},
	{"power_limit", decimal(nvml.Device.GetEnforcedPowerLimit)},
	{"power_limit_default", decimal(nvml.Device.GetPowerManagementDefaultLimit)},
	{"clock_sm_max", clock(nvml.Device.GetMaxClockInfo, nvml.CLOCK_SM)},
	{"clock_memory_max", clock(nvml.Device.GetMaxClockInfo, nvml.CLOCK_MEM)},
	{"memory_bus_width", decimal(nvml.Device.GetMemoryBusWidth)},
	{"clock_sm_application", clock(nvml.Device.GetApplicationsClock, nvml.CLOCK_SM)},
	{"clock_memory_application", clock(nvml.Device.GetApplicationsClock, nvml.CLOCK_MEM)},
	{"persistence", func(d nvml.Device) (string, nvml.Return) {
		state, ret := d.GetPersistenceMode()
		return enabled(state), ret
	}},
	{"compute_mode", computeMode},
	{"mig", func(d nvml.Device) (string, nvml.Return) {
		current, _, ret := d.GetMigMode()
		return strconv.FormatBool(current == nvml.DEVICE_MIG_ENABLE), ret
	}},
	{"ecc", func(d nvml.Device) (string, nvml.Return) {
		current, _, ret := d.GetEccMode()
		return enabled(current), ret
	}},
}

// defaultLibrary is where the driver installs its library.
const defaultLibrary = "libnvidia-ml.so.1"

// driver is the library. A function that it lacks returns ERROR_FUNCTION_NOT_FOUND.
type driver struct {
	nvml.Interface
	facts *facts
}

// openDriver loads the library; empty is the installed one. The driver may only be used on success.
func openDriver(library string) (driver, nvml.Return) {
	library = cmp.Or(library, defaultLibrary)
	bindNVML(library)
	d := driver{nvml.New(nvml.WithLibraryPath(library)), newFacts()}
	return d, d.Init()
}

// queryDriver reads the facts of the driver and its devices.
func queryDriver(library string) Devices {
	d, ret := openDriver(library)
	if ret != nvml.SUCCESS {
		d.facts.miss("gpu", why(ret))
	} else {
		d.read()
	}
	return Devices{Facts: d.facts.known, Missing: d.facts.missing}
}

// note records a value, or the reason why it is unknown.
func (d driver) note(name, value string, ret nvml.Return) {
	if ret != nvml.SUCCESS {
		d.facts.miss(name, why(ret))
		return
	}
	d.facts.set(name, value)
}

func (d driver) read() {
	version, ret := d.SystemGetDriverVersion()
	d.note("gpu.driver", version, ret)

	cuda, ret := d.SystemGetCudaDriverVersion()
	d.note("gpu.cuda", fmt.Sprintf("%d.%d", cuda/1000, cuda%1000/10), ret)

	d.eachDevice(func(prefix string, device nvml.Device) {
		d.readFacts(prefix, device, deviceGetters)
		d.readFacts(prefix, device, stateGetters)
		d.readProcesses(prefix, device)
	})
}

// eachDevice counts the devices and calls read with gpu.0, gpu.1 and so on, except for devices that cannot be reached.
func (d driver) eachDevice(read func(prefix string, device nvml.Device)) {
	count, ret := d.DeviceGetCount()
	d.note("gpu.count", strconv.Itoa(count), ret)
	if ret != nvml.SUCCESS {
		return
	}
	for i := range count {
		prefix := fmt.Sprintf("gpu.%d", i)
		device, ret := d.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			d.facts.miss(prefix, why(ret))
			continue
		}
		read(prefix, device)
	}
}

// readFacts reads some facts of a device. Of two getters with one name, the first that succeeds counts.
func (d driver) readFacts(prefix string, device nvml.Device, getters []deviceGetter) {
	for _, getter := range getters {
		value, ret := getter.get(device)
		d.note(prefix+"."+getter.name, value, ret)
	}
}

// why converts a code of the library to one of the reasons. The library's own texts come from a function that may be missing too.
func why(ret nvml.Return) string {
	switch ret {
	case nvml.ERROR_LIBRARY_NOT_FOUND, nvml.ERROR_DRIVER_NOT_LOADED:
		return absent
	case nvml.ERROR_NO_PERMISSION:
		return permission
	case nvml.ERROR_TIMEOUT:
		return timeout
	case nvml.ERROR_GPU_IS_LOST, nvml.ERROR_RESET_REQUIRED:
		return lost
	}
	return unsupported
}

func decimal[T int | uint32](get func(nvml.Device) (T, nvml.Return)) func(nvml.Device) (string, nvml.Return) {
	return func(d nvml.Device) (string, nvml.Return) {
		n, ret := get(d)
		return fmt.Sprint(n), ret
	}
}

func clock(
	get func(nvml.Device, nvml.ClockType) (uint32, nvml.Return), kind nvml.ClockType,
) func(nvml.Device) (string, nvml.Return) {
	return decimal(func(d nvml.Device) (uint32, nvml.Return) { return get(d, kind) })
}

func enabled(state nvml.EnableState) string { return strconv.FormatBool(state == nvml.FEATURE_ENABLED) }

func pciBus(d nvml.Device) (string, nvml.Return) {
	info, ret := d.GetPciInfo()
	end := 0
	for end < len(info.BusId) && info.BusId[end] != 0 {
		end++
	}
	return string(info.BusId[:end]), ret
}

func computeMode(d nvml.Device) (string, nvml.Return) {
	mode, ret := d.GetComputeMode()
	names := map[nvml.ComputeMode]string{
		nvml.COMPUTEMODE_DEFAULT:           "default",
		nvml.COMPUTEMODE_EXCLUSIVE_THREAD:  "exclusive_thread",
		nvml.COMPUTEMODE_PROHIBITED:        "prohibited",
		nvml.COMPUTEMODE_EXCLUSIVE_PROCESS: "exclusive_process",
	}
	return names[mode], ret
}

// stateGetters are read once a session and around every run.
var stateGetters = []deviceGetter{
	{"clock_sm", clock(nvml.Device.GetClockInfo, nvml.CLOCK_SM)},
	{"temperature", decimal(func(d nvml.Device) (uint32, nvml.Return) {
		return d.GetTemperature(nvml.TEMPERATURE_GPU)
	})},
	{"throttle", throttle(nvml.Device.GetCurrentClocksEventReasons)},
	{"throttle", throttle(nvml.Device.GetCurrentClocksThrottleReasons)}, // before R535
}

// counterGetters return counters. Only their differences are meaningful.
var counterGetters = []deviceGetter{
	{"throttled_power" + total, violation(nvml.PERF_POLICY_POWER)},
	{"throttled_thermal" + total, violation(nvml.PERF_POLICY_THERMAL)},
}

func throttle(get func(nvml.Device) (uint64, nvml.Return)) func(nvml.Device) (string, nvml.Return) {
	return func(d nvml.Device) (string, nvml.Return) {
		bits, ret := get(d)
		return cmp.Or(strings.Join(ThrottleReasons(int64(bits)), " "), none), ret
	}
}

// violation returns for how long, in ns, a limit has held the clock down.
func violation(limit nvml.PerfPolicyType) func(nvml.Device) (string, nvml.Return) {
	return func(d nvml.Device) (string, nvml.Return) {
		status, ret := d.GetViolationStatus(limit)
		return strconv.FormatUint(status.ViolationTime, 10), ret
	}
}

// readProcesses reads the processes that compute on a device: processes is their number, and foreign lists the ones that are not below
// the process that started this one.
func (d driver) readProcesses(prefix string, device nvml.Device) {
	infos, ret := device.GetComputeRunningProcesses()
	var pids []int
	for _, info := range infos {
		pids = append(pids, int(info.Pid))
	}
	d.note(prefix+".processes", strconv.Itoa(len(pids)), ret)
	d.note(prefix+".foreign", foreign(systemRoot(), pids, os.Getppid()), ret)
}

// openMonitor opens the driver for the process that watches devices.
func openMonitor(library string) monitor {
	d, ret := openDriver(library)
	state := func() Devices {
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
	sources := func(devices []string) ([]source, map[string]string, bool) {
		if ret != nvml.SUCCESS {
			return nil, nil, false
		}
		list, missing := d.sources(devices)
		return list, missing, true
	}
	return monitor{state, sources}
}
