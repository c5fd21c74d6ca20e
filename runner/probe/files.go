package probe

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
)

// file is a fact that is the content of one file.
type file struct {
	name  string
	path  string
	parse func(text string) (string, error) // nil: the text itself
}

// files are the facts that are constant during a session. Of two rows with one name, the first that is readable counts.
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

// maxText is the maximum number of bytes to read from a file. It is enough for every file here, and for the first processor of cpuinfo,
// each processor of which costs an interrupt.
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

// subdirs lists the entries of dir whose names consist of prefix and a number.
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

// maxCPUs bounds the numbers in a list of processors.
const maxCPUs = 1 << 16

// integer passes a whole number.
func integer(text string) (string, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", malformed("a number", text)
	}
	return strconv.FormatInt(n, 10), nil
}

// flag turns 1 and 0 into true and false.
func flag(text string) (string, error) {
	if text != "0" && text != "1" {
		return "", malformed("0 or 1", text)
	}
	return strconv.FormatBool(text == "1"), nil
}

// inverted is flag for a file that is true if something is switched off.
func inverted(text string) (string, error) {
	value, err := flag(text)
	if err != nil {
		return "", err
	}
	return strconv.FormatBool(value == "false"), nil
}

// orNone returns the list, or none if it is empty, which is information too.
func orNone(text string) (string, error) {
	if text == "" || text == "(null)" {
		return "none", nil
	}
	return text, nil
}

// chosen returns the word in brackets: always [madvise] never.
func chosen(text string) (string, error) {
	_, rest, _ := strings.Cut(text, "[")
	word, _, ok := strings.Cut(rest, "]")
	if !ok {
		return "", malformed("a choice", text)
	}
	return word, nil
}

// kilohertz turns kHz into MHz.
func kilohertz(text string) (string, error) { return thousandths("a frequency", text) }

// thousandths divides a whole number by 1000.
func thousandths(what, text string) (string, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", malformed(what, text)
	}
	return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64), nil
}

// firstNumber returns the first word, which has to be a number.
func firstNumber(text string) (string, error) {
	word, _, _ := strings.Cut(text, " ")
	return number(word)
}

// number passes a decimal number.
func number(text string) (string, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n-n != 0 { // not finite
		return "", malformed("a number", text)
	}
	return strconv.FormatFloat(n, 'f', -1, 64), nil
}

// pressure returns the share of the last 10 s in which some task waited, in percent.
func pressure(text string) (string, error) {
	rest, ok := strings.CutPrefix(text, "some avg10=")
	if !ok {
		return "", malformed("a pressure", text)
	}
	return firstNumber(rest)
}

// status returns a parser of one line of a status file, such as Cpus_allowed_list: 0-3.
func status(key string) func(string) (string, error) {
	return func(text string) (string, error) {
		for line := range strings.Lines(text) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
				return strings.TrimSpace(value), nil
			}
		}
		return "", malformed(key, text)
	}
}

// kibibytes returns a parser of one line of meminfo, such as MemTotal: 16 kB, in bytes.
func kibibytes(key string) func(string) (string, error) {
	return func(text string) (string, error) {
		value, err := status(key)(text)
		if err != nil {
			return "", err
		}
		return size(strings.TrimSuffix(value, " kB") + "K")
	}
}

// swapUsed returns how many bytes of meminfo's swap space hold something.
func swapUsed(text string) (string, error) {
	total, err1 := kibibytes("SwapTotal")(text)
	free, err2 := kibibytes("SwapFree")(text)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	t, err1 := strconv.ParseInt(total, 10, 64)
	f, err2 := strconv.ParseInt(free, 10, 64)
	if err1 != nil || err2 != nil || f > t {
		return "", malformed("swap space", total+" with "+free+" free")
	}
	return strconv.FormatInt(t-f, 10), nil
}

// randomized reads whether address space layout randomization is on, from the personality of a process. One of its bits turns it off.
func randomized(text string) (string, error) {
	const noRandomize = 0x0040000
	bits, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return "", malformed("a personality", text)
	}
	return strconv.FormatBool(bits&noRandomize == 0), nil
}

// processorTime reads the first line of /proc/stat: the time of all processors in ticks, and the part of it that the host of this
// virtual machine gave to others.
func processorTime(text string) (stolen, all uint64, err error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	const steal = 8 // index in: user nice system idle iowait irq softirq steal; later ones are included in these
	if len(fields) <= steal || fields[0] != "cpu" {
		return 0, 0, malformed("the time of the processors", line)
	}
	for i, field := range fields[1 : steal+1] {
		n, err := strconv.ParseUint(field, 10, 52)
		if err != nil {
			return 0, 0, malformed("the time of the processors", line)
		}
		all += n
		if i+1 == steal {
			stolen = n
		}
	}
	return stolen, all, nil
}

// stolenShare returns how much of the time since the start was stolen, in percent.
func stolenShare(text string) (string, error) {
	stolen, all, err := processorTime(text)
	if err != nil || all == 0 {
		return "", cmp.Or(err, malformed("the time of the processors", text))
	}
	return percentage(stolen, all), nil
}

// percentage gives part of whole with three digits after the point.
func percentage(part, whole uint64) string {
	return strconv.FormatFloat(math.Round(1e5*float64(part)/float64(whole))/1e3, 'f', -1, 64)
}

// size turns 48K, 2M and 1G into bytes.
func size(text string) (string, error) {
	scale := int64(1)
	digits := strings.TrimRight(text, "KMG")
	switch strings.TrimPrefix(text, digits) {
	case "":
	case "K":
		scale = 1 << 10
	case "M":
		scale = 1 << 20
	case "G":
		scale = 1 << 30
	default:
		return "", malformed("a size", text)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > 1<<62/scale {
		return "", malformed("a size", text)
	}
	return strconv.FormatInt(n*scale, 10), nil
}

// distribution returns the name of the system from os-release.
func distribution(text string) (string, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return strings.Trim(strings.TrimSpace(value), `"'`), nil
		}
	}
	return "", malformed("os-release", text)
}

// cpuList reads 0-3,8.
func cpuList(text string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.ParseUint(low, 10, 31)
		last, err2 := strconv.ParseUint(high, 10, 31)
		if err1 != nil || err2 != nil || last < first || last >= maxCPUs || len(cpus) >= maxCPUs {
			return nil, malformed("a list of processors", text)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, int(cpu))
		}
	}
	return cpus, nil
}

// listLength counts the members of a list.
func listLength(text string) (string, error) {
	members, err := cpuList(text)
	return strconv.Itoa(len(members)), err
}
