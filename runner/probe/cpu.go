package probe

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

const cpuDir = "sys/devices/system/cpu"

// instructions are the parts of an instruction set that the speed of numeric code depends on.
var instructions = []string{
	"avx", "fma", "avx2", "avx512f", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx_vnni",
	"amx_tile", "amx_bf16", "amx_int8", "asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sve", "sve2",
}

// readCPU reads what the processor is and how it is built.
func readCPU(root fs.FS, f *facts) {
	info, err := cpuinfo(root)
	f.put("cpu.model")(model(info), err)
	f.put("cpu.microcode")(info["microcode"], err)
	f.put("cpu.isa")(isa(info), err)

	online, err := readText(root, cpuDir+"/online")
	if err != nil {
		for _, name := range []string{"cpu.threads", "cpu.cores", "cpu.sockets"} {
			f.put(name)("", err)
		}
	} else {
		cpus, err := cpuList(online)
		f.put("cpu.threads")(strconv.Itoa(len(cpus)), err)
		f.put("cpu.cores")(groups(root, cpus, "core_cpus_list", "thread_siblings_list"))
		f.put("cpu.sockets")(groups(root, cpus, "package_cpus_list", "core_siblings_list"))
	}
	readCaches(root, f)
	f.put("cpu.mitigations")(mitigations(root))
}

// cpuinfo returns the description of the first processor.
func cpuinfo(root fs.FS) (map[string]string, error) {
	text, err := readText(root, "proc/cpuinfo")
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(text, "\n\n")
	info := map[string]string{}
	for line := range strings.Lines(first) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			info[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return info, nil
}

// model names the processor; the kernel of an ARM machine knows only numbers.
func model(info map[string]string) string {
	if name := info["model name"]; name != "" {
		return name
	}
	implementer, part := info["CPU implementer"], info["CPU part"]
	if implementer == "" || part == "" {
		return ""
	}
	return fmt.Sprintf("ARM implementer %s part %s", implementer, part)
}

func isa(info map[string]string) string {
	has := strings.Fields(info["flags"] + " " + info["Features"])
	var known []string
	for _, name := range instructions {
		if slices.Contains(has, name) {
			known = append(known, name)
		}
	}
	return strings.Join(known, " ")
}

// groups counts the sets that the processors fall into, by the file in which each lists its set: name, or old
// before Linux 5.3.
func groups(root fs.FS, cpus []int, name, old string) (string, error) {
	seen := map[int]bool{}
	count := 0
	for _, cpu := range cpus {
		if seen[cpu] {
			continue
		}
		dir := fmt.Sprintf("%s/cpu%d/topology/", cpuDir, cpu)
		text, err := readText(root, dir+name)
		if err != nil {
			if text, err = readText(root, dir+old); err != nil {
				return "", err
			}
		}
		members, err := cpuList(text)
		if err != nil {
			return "", err
		}
		for _, member := range members {
			seen[member] = true
		}
		count++
	}
	if count == 0 {
		return "", malformed("the list of processors", "")
	}
	return strconv.Itoa(count), nil
}

// readCaches reads the sizes of the first processor's caches.
func readCaches(root fs.FS, f *facts) {
	dirs, err := subdirs(root, cpuDir+"/cpu0/cache", "index")
	if err != nil {
		f.miss("cpu.cache", reason(err))
		return
	}
	for _, dir := range dirs {
		level, err1 := readText(root, dir+"/level")
		kind, err2 := readText(root, dir+"/type")
		if _, err := strconv.ParseUint(level, 10, 4); err1 != nil || err2 != nil || err != nil {
			f.miss("cpu.cache", unsupported)
			continue
		}
		name := "cpu.cache.l" + level
		switch kind {
		case "Data":
			name += "d"
		case "Instruction":
			name += "i"
		}
		f.put(name)(file{parse: size}.read(root, dir+"/size"))
	}
}

// mitigations lists the vulnerabilities that this processor is affected by and what is done against each.
func mitigations(root fs.FS) (string, error) {
	const dir = cpuDir + "/vulnerabilities"
	entries, err := fs.ReadDir(root, dir)
	if err != nil {
		return "", err
	}
	var affected []string
	for _, entry := range entries {
		text, err := readText(root, dir+"/"+entry.Name())
		if err != nil {
			return "", err
		}
		if text != "Not affected" {
			affected = append(affected, entry.Name()+"="+text)
		}
	}
	return orNone(strings.Join(affected, "; "))
}

// temperature returns the hottest sensor of the processor in Cel.
func temperature(root fs.FS) (string, error) {
	sensors, err := subdirs(root, "sys/class/hwmon", "hwmon")
	if err != nil {
		return "", err
	}
	hottest, found := int64(0), false
	for _, dir := range sensors {
		name, err := readText(root, dir+"/name")
		if err != nil || !slices.Contains([]string{"coretemp", "k10temp", "zenpower", "cpu_thermal"}, name) {
			continue
		}
		entries, err := fs.ReadDir(root, dir)
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			if !strings.HasPrefix(entry.Name(), "temp") || !strings.HasSuffix(entry.Name(), "_input") {
				continue
			}
			text, err := readText(root, dir+"/"+entry.Name())
			n, notNumber := strconv.ParseInt(text, 10, 64)
			if err == nil && notNumber == nil && (!found || n > hottest) {
				hottest, found = n, true
			}
		}
	}
	if !found {
		return "", fs.ErrNotExist
	}
	return thousandths("a temperature", strconv.FormatInt(hottest, 10))
}
