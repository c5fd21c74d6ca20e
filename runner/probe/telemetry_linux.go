package probe

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// quantity is what one call of the driver reads of a device: one or more metrics.
type quantity struct {
	names []string
	tick  float64
	slow  bool
	whole bool // of the whole GPU, so that an instance of a shared one (MIG) has no value of its own
	get   func(nvml.Device) ([]int64, nvml.Return)
}

// quantities are read while a run measures. None of these calls reads processes or fans, which hold the lock of the driver for milliseconds.
var quantities = []quantity{
	{names: []string{"clock_sm"}, tick: 1, get: clockOf(nvml.CLOCK_SM)},
	{names: []string{"clock_memory"}, tick: 1, get: clockOf(nvml.CLOCK_MEM)},
	{names: []string{"throttle"}, tick: 1, get: firstOf(
		one(nvml.Device.GetCurrentClocksEventReasons),
		one(nvml.Device.GetCurrentClocksThrottleReasons), // before R535
	)},
	{names: []string{"gpu_utilization", "memory_utilization"}, tick: 1e-2, whole: true, get: func(d nvml.Device) ([]int64, nvml.Return) {
		u, ret := d.GetUtilizationRates()
		return []int64{int64(u.Gpu), int64(u.Memory)}, ret
	}},
	{names: []string{"power"}, tick: 1, whole: true, get: firstOf(instantPower, one(nvml.Device.GetPowerUsage))},
	{names: []string{"energy"}, tick: 1, whole: true, get: one(nvml.Device.GetTotalEnergyConsumption)},
	{names: []string{"temperature"}, tick: 1, slow: true, get: func(d nvml.Device) ([]int64, nvml.Return) {
		t, ret := d.GetTemperature(nvml.TEMPERATURE_GPU)
		return []int64{int64(int32(t))}, ret // it may be below zero
	}},
	{names: []string{"device_memory_used"}, tick: 1, slow: true, get: func(d nvml.Device) ([]int64, nvml.Return) {
		m, ret := d.GetMemoryInfo()
		return []int64{int64(m.Used)}, ret
	}},
}

func one[T uint32 | uint64](get func(nvml.Device) (T, nvml.Return)) func(nvml.Device) ([]int64, nvml.Return) {
	return func(d nvml.Device) ([]int64, nvml.Return) {
		value, ret := get(d)
		return []int64{int64(value)}, ret
	}
}

func clockOf(kind nvml.ClockType) func(nvml.Device) ([]int64, nvml.Return) {
	return one(func(d nvml.Device) (uint32, nvml.Return) { return d.GetClockInfo(kind) })
}

// firstOf returns a getter that asks the second one where the driver does not have the first.
func firstOf(first, second func(nvml.Device) ([]int64, nvml.Return)) func(nvml.Device) ([]int64, nvml.Return) {
	return func(d nvml.Device) ([]int64, nvml.Return) {
		values, ret := first(d)
		if ret == nvml.ERROR_FUNCTION_NOT_FOUND || ret == nvml.ERROR_NOT_SUPPORTED {
			return second(d)
		}
		return values, ret
	}
}

// instantPower reads the power at this moment. GetPowerUsage is an average of the last second on most GPUs since Ampere.
func instantPower(d nvml.Device) ([]int64, nvml.Return) {
	fields := []nvml.FieldValue{{FieldId: nvml.FI_DEV_POWER_INSTANT}}
	ret := d.GetFieldValues(fields)
	if ret == nvml.SUCCESS {
		ret = nvml.Return(fields[0].NvmlReturn)
	}
	return []int64{int64(binary.NativeEndian.Uint32(fields[0].Value[:]))}, ret
}

// sources lists what can be read of devices, named by their UUIDs, and why the rest cannot.
func (d driver) sources(devices []string) (list []source, missing map[string]string) {
	missing = map[string]string{}
	for i, uuid := range devices {
		device, ret := d.DeviceGetHandleByUUID(uuid)
		for _, q := range quantities {
			of, err := device, code(ret)
			if err == nil {
				of, err = q.on(device)
			}
			if err == nil {
				_, ret := q.get(of)
				err = code(ret)
			}
			names := make([]string, len(q.names))
			for n, name := range q.names {
				if names[n] = name + Suffix(i); err != nil {
					missing[names[n]] = reason(err)
				}
			}
			if err == nil {
				list = append(list, source{names: names, tick: q.tick, slow: q.slow, read: func(int64) ([]int64, error) {
					values, ret := q.get(of)
					return values, code(ret)
				}})
			}
		}
	}
	return list, missing
}

// on returns the device that has the quantity of a device. An instance of a shared GPU has memory of its own, and the clocks and the
// temperature of the GPU.
func (q quantity) on(device nvml.Device) (nvml.Device, error) {
	instance, ret := device.IsMigDeviceHandle()
	if ret != nvml.SUCCESS || !instance || q.names[0] == "device_memory_used" {
		return device, nil // a driver without the function knows no instances
	}
	if q.whole {
		return device, code(nvml.ERROR_NOT_SUPPORTED)
	}
	gpu, ret := device.GetDeviceHandleFromMigDeviceHandle()
	return gpu, code(ret)
}

// code returns a code of the library as an error, see reason; nil is success.
func code(ret nvml.Return) error {
	if ret == nvml.SUCCESS {
		return nil
	}
	switch why(ret) {
	case absent:
		return fs.ErrNotExist
	case permission:
		return fs.ErrPermission
	case timeout:
		return os.ErrDeadlineExceeded
	case lost:
		return errLost
	}
	return errors.ErrUnsupported
}
