package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// errNotYet: the difference of two readings exists only from the second one on.
var errNotYet = errors.New("no earlier reading")

// perMillion is the tick of shares that are differences.
const perMillion = 1e-6

// processorSources lists what can be read of the processors, and why the rest cannot.
func processorSources(root fs.FS) (list []source, missing map[string]string) {
	missing = map[string]string{}
	for _, s := range []struct {
		name string
		open func() (source, error)
	}{
		{"cpu_energy", func() (source, error) { return packageEnergy(root) }},
		{"cpu_frequency", func() (source, error) { return frequency(root) }},
		{"cpu_pressure", func() (source, error) { return stalled(root) }},
		{"cpu_steal", func() (source, error) { return stolen(root) }},
	} {
		opened, err := s.open()
		if err != nil {
			missing[s.name] = reason(err)
			continue
		}
		list = append(list, opened)
	}
	return list, missing
}

// readNumber reads a file that has a whole number.
func readNumber(root fs.FS, file string) (int64, error) {
	text, err := readText(root, file)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, malformed(file, text)
	}
	return n, nil
}

// raplZones are the energy counters of processors (Running Average Power Limit), a folder each.
const raplZones = "sys/class/powercap"

// packageEnergy reads the energy of all packages of the processor in µJ. The counter of each begins anew after its largest value; more
// than once between two readings is impossible, because that takes minutes.
func packageEnergy(root fs.FS) (source, error) {
	zones, err := subdirs(root, raplZones, "intel-rapl:") // AMD processors have folders of that name too
	if err != nil {
		return source{}, err
	}
	type counter struct {
		file        string
		largest, at int64
	}
	var counters []*counter
	for _, zone := range zones {
		if name, _ := readText(root, zone+"/name"); !strings.HasPrefix(name, "package") {
			continue // psys has the energy of the whole platform
		}
		c := &counter{file: zone + "/energy_uj"}
		if c.largest, err = readNumber(root, zone+"/max_energy_range_uj"); err != nil {
			return source{}, err
		}
		if c.at, err = readNumber(root, c.file); err != nil {
			return source{}, err
		}
		counters = append(counters, c)
	}
	if len(counters) == 0 {
		return source{}, &fs.PathError{Op: "find", Path: raplZones, Err: fs.ErrNotExist}
	}
	var used int64
	return single("cpu_energy", 1e-3, func() (int64, error) {
		for _, c := range counters {
			now, err := readNumber(root, c.file)
			if err != nil {
				return 0, err
			}
			if used += now - c.at; now < c.at {
				used += c.largest + 1
			}
			c.at = now
		}
		return used, nil
	}), nil
}

// frequency reads the highest clock among the processors, in kHz.
func frequency(root fs.FS) (source, error) {
	policies, err := subdirs(root, cpuDir+"/cpufreq", "policy")
	if err != nil {
		return source{}, err
	}
	return single("cpu_frequency", 1e-3, func() (highest int64, err error) {
		for _, policy := range policies {
			now, err := readNumber(root, policy+"/scaling_cur_freq")
			if err != nil {
				return 0, err
			}
			highest = max(highest, now)
		}
		return highest, nil
	}).slower(), nil
}

// share returns a source of the growth of one counter divided by the growth of another between two readings, in millionths.
func share(name string, read func(at int64) (part, whole int64, err error)) (source, error) {
	part, whole, err := read(0)
	if err != nil {
		return source{}, err
	}
	first := true
	return source{names: []string{name}, tick: perMillion, slow: true, read: func(at int64) ([]int64, error) {
		p, w, err := read(at)
		if err != nil {
			return nil, err
		}
		grown, of := p-part, w-whole
		part, whole = p, w
		if first || of <= 0 {
			first = false
			return nil, errNotYet
		}
		return []int64{min(max(grown, 0)*1e6/of, 1e6)}, nil
	}}, nil
}

// stalled reads the share of time in which a task waited for a processor: of the counter of the kernel's pressure stall information, in µs.
func stalled(root fs.FS) (source, error) {
	return share("cpu_pressure", func(at int64) (int64, int64, error) {
		text, err := readText(root, "proc/pressure/cpu")
		if err != nil {
			return 0, 0, err
		}
		line, _, _ := strings.Cut(text, "\n")
		_, total, _ := strings.Cut(line, " total=")
		waited, err := strconv.ParseInt(total, 10, 64)
		if err != nil {
			return 0, 0, malformed("the pressure on the processors", line)
		}
		return waited, at / 1000, nil
	})
}

// stolen reads the share of processor time that the host of a virtual machine gave to others.
func stolen(root fs.FS) (source, error) {
	return share("cpu_steal", func(int64) (int64, int64, error) {
		text, err := readText(root, "proc/stat")
		if err != nil {
			return 0, 0, err
		}
		stolen, all, err := processorTime(text)
		return int64(stolen), int64(all), err
	})
}

// amdQuantities are the files of an AMD GPU: in the folder of its device, or in its folder hwmon.
var amdQuantities = []struct {
	name, file string
	hwmon      bool
	tick       float64 // in the unit of the metric
	slow       bool
}{
	{"clock_sm", "freq1_input", true, 1e-6, false},
	{"clock_memory", "freq2_input", true, 1e-6, false},
	{"power", "power1_average", true, 1e-3, false},
	{"gpu_utilization", "gpu_busy_percent", false, 1e-2, false},
	{"memory_utilization", "mem_busy_percent", false, 1e-2, false},
	{"temperature", "temp1_input", true, 1e-3, true},
	{"device_memory_used", "mem_info_vram_used", false, 1, true},
}

// amdSources lists what can be read of AMD GPUs, named by their UUIDs or, without one, by their indices.
func amdSources(root fs.FS, devices []string) (list []source, missing map[string]string) {
	missing = map[string]string{}
	folders := map[string]string{}
	for i, gpu := range amdGPUs(root) {
		folders[fmt.Sprintf("GPU-%d", i)] = gpu.device()
		if id := gpu.properties["unique_id"]; id != 0 {
			folders[fmt.Sprintf("GPU-%016x", id)] = gpu.device()
		}
	}
	for i, device := range devices {
		folder, known := folders[device]
		for _, q := range amdQuantities {
			name, file := q.name+Suffix(i), folder+"/"+q.file
			if q.hwmon {
				monitors, _ := subdirs(root, folder+"/hwmon", "hwmon")
				file = path.Join(append(monitors[:min(len(monitors), 1)], q.file)...)
			}
			_, err := readNumber(root, file)
			if !known {
				err = fs.ErrNotExist
			}
			if err != nil {
				missing[name] = reason(err)
				continue
			}
			list = append(list, source{names: []string{name}, tick: q.tick, slow: q.slow, read: func(int64) ([]int64, error) {
				value, err := readNumber(root, file)
				return []int64{value}, err
			}})
		}
		missing["throttle"+Suffix(i)] = unsupported
	}
	return list, missing
}
