package probe

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// file is a fact that one file holds.
type file struct {
	name  string
	path  string
	parse func(text string) (string, error) // nil: the text itself
}

// files are the facts that hold for a session. Of two rows with one name, the first that is readable counts.
var files = []file{
	{"os.kernel", "proc/sys/kernel/osrelease", nil},
	{"os.build", "proc/sys/kernel/version", nil},
	{"os.distribution", "etc/os-release", distribution},
	{"os.cmdline", "proc/cmdline", scrubWords},
	{"os.boot_id", "proc/sys/kernel/random/boot_id", nil},
	{"os.perf_event_paranoid", "proc/sys/kernel/perf_event_paranoid", integer},
	{"os.perf_event_max_sample_rate", "proc/sys/kernel/perf_event_max_sample_rate", integer},
	{"os.irq_affinity", "proc/irq/default_smp_affinity", nil},
	{"aslr", "proc/sys/kernel/randomize_va_space", integer},
	{"aslr.process", "proc/self/personality", randomized},
	{"clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource", nil},
	{"thp", "sys/kernel/mm/transparent_hugepage/enabled", chosen},
	{"thp.defrag", "sys/kernel/mm/transparent_hugepage/defrag", chosen},
	{"cpu.smt", "sys/devices/system/cpu/smt/active", flag},
	{"cpu.boost", "sys/devices/system/cpu/cpufreq/boost", flag},
	{"cpu.boost", "sys/devices/system/cpu/intel_pstate/no_turbo", inverted},
	{"cpu.isolated", "sys/devices/system/cpu/isolated", orNone},
	{"cpu.nohz_full", "sys/devices/system/cpu/nohz_full", orNone},
	{"cpu.idle_driver", "sys/devices/system/cpu/cpuidle/current_driver", nil},
	{"cpu.affinity", "proc/self/status", status("Cpus_allowed_list")},
	{"cpu.steal_since_boot", "proc/stat", stolenShare},
	{"numa.affinity", "proc/self/status", status("Mems_allowed_list")},
	{"numa.nodes", "sys/devices/system/node/online", listLength},
	{"numa.balancing", "proc/sys/kernel/numa_balancing", integer},
	{"memory.total", "proc/meminfo", kibibytes("MemTotal")},
	{"memory.swap", "proc/meminfo", kibibytes("SwapTotal")},
	{"memory.swappiness", "proc/sys/vm/swappiness", integer},
	{"system.vendor", "sys/class/dmi/id/sys_vendor", nil},
	{"system.product", "sys/class/dmi/id/product_name", nil},
	{"system.product", "sys/firmware/devicetree/base/model", nil},
}

// volatileFiles are the facts that differ from one run to the next.
var volatileFiles = []file{
	{"load.1m", "proc/loadavg", firstNumber},
	{"memory.swap_used", "proc/meminfo", swapUsed},
	{"psi.cpu_some_avg10", "proc/pressure/cpu", pressure},
	{"psi.memory_some_avg10", "proc/pressure/memory", pressure},
	{"psi.io_some_avg10", "proc/pressure/io", pressure},
	{"cpu.frequency", "sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", kilohertz},
}

// perPolicy are the facts that each group of processors has for itself; normally they agree.
var perPolicy = []file{
	{"cpu.governor", "scaling_governor", nil},
	{"cpu.scaling_driver", "scaling_driver", nil},
	{"cpu.frequency_min", "scaling_min_freq", kilohertz},
	{"cpu.frequency_max", "scaling_max_freq", kilohertz},
	{"cpu.energy_preference", "energy_performance_preference", nil},
}

// readFiles reads a table of facts.
func readFiles(root fs.FS, table []file, f *facts) {
	for _, row := range table {
		f.put(row.name)(row.read(root, row.path))
	}
}

// read reads one fact from the file at path.
func (row file) read(root fs.FS, path string) (string, error) {
	text, err := readText(root, path)
	if err != nil || row.parse == nil {
		return text, err
	}
	return row.parse(text)
}

// readDistinct reads the facts of each group of processors; values that differ are joined by a comma.
func readDistinct(root fs.FS, f *facts) {
	policies, err := subdirs(root, "sys/devices/system/cpu/cpufreq", "policy")
	for _, row := range perPolicy {
		var values []string
		first := err
		for _, policy := range policies {
			value, err := row.read(root, policy+"/"+row.path)
			if err == nil {
				values = append(values, value)
			} else if first == nil {
				first = err
			}
		}
		if len(values) > 0 {
			first = nil
		}
		slices.Sort(values)
		f.put(row.name)(strings.Join(slices.Compact(values), ","), first)
	}
}

// maxText is how much is read of a file, in B. It holds every file that is read here, and of cpuinfo, which costs an interrupt a
// processor, the first one.
const maxText = 16 << 10

// readText returns the beginning of a file without the white space around it.
func readText(root fs.FS, path string) (string, error) {
	opened, err := root.Open(path)
	if err != nil {
		return "", err
	}
	defer opened.Close()
	data := make([]byte, 0, 4<<10) // most files are read at once
	for err == nil && len(data) < maxText {
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
		var n int
		n, err = opened.Read(data[len(data):min(cap(data), maxText)])
		data = data[:len(data)+n]
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimSpace(string(data)), err
}

// subdirs lists the entries of dir whose names are prefix and a number.
func subdirs(root fs.FS, dir, prefix string) ([]string, error) {
	entries, err := fs.ReadDir(root, dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		number, ok := strings.CutPrefix(entry.Name(), prefix)
		if _, err := strconv.Atoi(number); ok && err == nil {
			found = append(found, dir+"/"+entry.Name())
		}
	}
	if len(found) == 0 {
		return nil, &fs.PathError{Op: "list", Path: dir + "/" + prefix, Err: fs.ErrNotExist}
	}
	return found, nil
}
