package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// total ends the names of counters, of which only the difference between two readings says something.
const total = ".total"

// volatile reads what changes of the host. What is not known is left out. root nil is this system's.
func volatile(root fs.FS) map[string]string {
	if root == nil {
		root = systemRoot()
	}
	f := newFacts()
	readFiles(root, volatileFiles, f)
	f.put("cpu.temperature")(temperature(root))
	readCounters(root, f)
	return f.known
}

// counters reads what of that only grows, which is all that Between needs to know of the host after a run.
func counters(root fs.FS) map[string]string {
	f := newFacts()
	readCounters(root, f)
	return f.known
}

func readCounters(root fs.FS, f *facts) {
	f.put("cpu.throttles" + total)(throttles(root))
	if text, err := readText(root, "proc/stat"); err == nil {
		if stolen, all, err := processorTime(text); err == nil {
			f.set("cpu.steal"+total, strconv.FormatUint(stolen, 10))
			f.set("cpu.time"+total, strconv.FormatUint(all, 10))
		}
	}
}

// Between returns the facts of a run from a reading before and one after it: the state at its beginning, and the increase of counters in
// the meantime. The counters are cpu.throttles (how often a core was slowed down by heat), cpu.steal (the share of processor time that the
// host of a virtual machine gave to others, in percent), gpu.N.throttled_power and gpu.N.throttled_thermal (ns during which its clock was
// lowered). Facts about what slows down or shares a GPU are joined from both readings, since the benchmark does not run during either.
func Between(before, after map[string]string) map[string]string {
	facts := map[string]string{}
	for name, value := range before {
		if !strings.HasSuffix(name, total) {
			facts[name] = value
		}
	}
	for name, value := range after {
		if deviceFact(name, "throttle") || deviceFact(name, "foreign") {
			facts[name] = both(facts[name], value)
		}
	}
	grown := map[string]uint64{}
	for name := range before {
		first, err1 := strconv.ParseUint(before[name], 10, 64)
		last, err2 := strconv.ParseUint(after[name], 10, 64)
		short, counter := strings.CutSuffix(name, total)
		if counter && err1 == nil && err2 == nil && last >= first {
			grown[short] = last - first
			facts[short] = strconv.FormatUint(last-first, 10)
		}
	}
	delete(facts, "cpu.time")
	delete(facts, "cpu.steal")
	if stolen, known := grown["cpu.steal"]; known && grown["cpu.time"] > 0 {
		facts["cpu.steal"] = percentage(stolen, grown["cpu.time"])
	}
	if watch := after["gpu.watch"]; watch != "" {
		facts["gpu.watch"] = watch
	}
	return facts
}

// IsVolatile reports whether a fact differs from run to run, or from boot to boot, so that it says nothing about a change of the machine.
func IsVolatile(name string) bool {
	if name == "cpu.temperature" || name == "gpu.watch" || strings.HasPrefix(name, "cpu.throttles") || strings.HasPrefix(name, "cpu.steal") {
		return true
	}
	for _, fact := range []string{
		"clock_sm", "temperature", "throttle", "throttled_power", "throttled_thermal", "processes", "foreign",
	} {
		if deviceFact(name, fact) {
			return true
		}
	}
	return slices.ContainsFunc(volatileFiles, func(row file) bool { return row.name == name })
}

// none is the value of a list in which nothing is.
const none = "none"

// both joins two lists of words, each of them once.
func both(a, b string) string {
	words := slices.Concat(strings.Fields(a), strings.Fields(b))
	slices.Sort(words)
	words = slices.DeleteFunc(slices.Compact(words), func(word string) bool { return word == none })
	if len(words) == 0 {
		return none
	}
	return strings.Join(words, " ")
}

// throttles counts how often cores were slowed down for their heat. Threads of one core count for it each.
func throttles(root fs.FS) (string, error) {
	cpus, err := subdirs(root, cpuDir, "cpu")
	if err != nil {
		return "", err
	}
	count, found := uint64(0), false
	for _, dir := range cpus {
		text, err := readText(root, dir+"/thermal_throttle/core_throttle_count")
		if errors.Is(err, fs.ErrNotExist) && dir == cpus[0] {
			return "", err // a processor that does not count; no need to ask each
		}
		if n, notNumber := strconv.ParseUint(text, 10, 52); err == nil && notNumber == nil {
			count, found = count+n, true
		}
	}
	if !found {
		return "", malformed("the counts of slowed down cores", "")
	}
	return strconv.FormatUint(count, 10), nil
}

// battery reports what the battery of this machine does, in the kernel's words but lower case: none, discharging,
// charging, full, not charging. The batteries of mice and pens do not count.
func battery(root fs.FS) (string, error) {
	const dir = "sys/class/power_supply"
	supplies, err := fs.ReadDir(root, dir)
	if err != nil {
		return "", err
	}
	state := none
	for _, supply := range supplies {
		path := dir + "/" + supply.Name()
		kind, err := readText(root, path+"/type")
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", supply.Name(), err)
		}
		if scope, _ := readText(root, path+"/scope"); kind != "Battery" || scope == "Device" {
			continue
		}
		says, err := readText(root, path+"/status")
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", supply.Name(), err)
		}
		if state = strings.ToLower(says); state == "discharging" {
			break
		}
	}
	return state, nil
}
