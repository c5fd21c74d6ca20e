package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// hostSalt prevents the id of a host from being looked up elsewhere by its machine-id.
const hostSalt = "neurolens host 1\n"

// hostID returns the identity of the installed system, in 32 hexadecimal digits.
func hostID(root fs.FS) (string, error) {
	var first error
	for _, path := range []string{"etc/machine-id", "var/lib/dbus/machine-id"} {
		id, err := readText(root, path)
		if _, notHex := hex.DecodeString(id); err == nil && notHex == nil && id != "" {
			sum := sha256.Sum256([]byte(hostSalt + id))
			return hex.EncodeToString(sum[:16]), nil
		} else if err == nil {
			err = fs.ErrNotExist // empty or the word uninitialized, in an image
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// readMachine sets the name of the machine: the user's name for it, or else a fingerprint of its hardware. If a part of the hardware is
// unknown, so is the machine: a name that comes and goes would split its history in two.
func readMachine(name string, f *facts) {
	if name != "" {
		f.set("machine", name)
		f.set("machine.source", "user")
		return
	}
	for _, part := range []string{"cpu.model", "cpu.cores", "memory.total"} {
		if why, ok := f.missing[part]; ok {
			f.miss("machine", why)
			return
		}
	}
	if why := f.unknownDevices(); why != "" {
		f.miss("machine", why)
		return
	}
	f.set("machine", fingerprint(f.known["cpu.model"], f.known["cpu.cores"], *f.integer("memory.total"), f.deviceNames()))
	f.set("machine.source", "fingerprint")
}

// Hardware returns a name for the hardware of a machine by the facts that Read has read: the one that a machine without a name of its
// own has. It is empty if a part of the hardware is unknown.
func Hardware(env *schema.Env) string {
	f := &facts{known: env.Facts, missing: env.Missing}
	memory, err := strconv.ParseInt(env.Facts["memory.total"], 10, 64)
	if env.Facts["cpu.model"] == "" || env.Facts["cpu.cores"] == "" || err != nil || f.unknownDevices() != "" {
		return ""
	}
	return fingerprint(env.Facts["cpu.model"], env.Facts["cpu.cores"], memory, f.deviceNames())
}

// fingerprint returns a name for hardware: epyc-7b13-64c-512g-8xa100-sxm4-80gb-1f0c22a9. The digits at the end are a hash of the full
// names.
func fingerprint(cpu, cores string, memory int64, devices []string) string {
	class := memoryClass(memory)
	words := []string{slug(cpu), cores + "c", fmt.Sprintf("%dg", class)}
	for i := 0; i < len(devices); {
		n := 1
		for i+n < len(devices) && devices[i+n] == devices[i] {
			n++
		}
		words = append(words, fmt.Sprintf("%dx%s", n, slug(devices[i])))
		i += n
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{"v1", cpu, cores, fmt.Sprint(class)}, devices...), "\n")))
	return strings.Join(append(words, hex.EncodeToString(sum[:4])), "-")
}

// memoryClass returns the installed memory in GiB; the memory visible to the system is always some percent less. It rounds up to three
// binary digits after the first, so that another kernel on the same machine, which reserves more or less, does not change the machine.
func memoryClass(visible int64) int64 {
	const gib = 1 << 30
	n := max(1, (visible+gib-1)/gib)
	step := int64(1) << max(0, bits.Len64(uint64(visible/gib))-4)
	return (n + step - 1) / step * step
}

var (
	noise    = regexp.MustCompile(`(?i)\((r|tm)\)|\d+(st|nd|rd|th) gen|\b(amd|intel|nvidia|cpu|processor|\d+-core)\b|@.*|\bwith .*`)
	nonAlnum = regexp.MustCompile(`[^a-z0-9]+`)
)

// slug shortens the name of a part to its distinctive words.
func slug(name string) string {
	short := nonAlnum.ReplaceAllString(strings.ToLower(noise.ReplaceAllString(name, " ")), "-")
	if short = strings.Trim(short, "-"); short != "" {
		return short
	}
	return "unknown"
}

const cpuDir = "sys/devices/system/cpu"

// instructions are the parts of an instruction set that the speed of numeric code depends on.
var instructions = []string{
	"avx", "fma", "avx2", "avx512f", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx_vnni",
	"amx_tile", "amx_bf16", "amx_int8", "asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sve", "sve2",
}

// readCPU reads the model of the processor and its topology.
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

// groups counts the sets of processors, by the file in which each processor lists its set: name, or old before Linux 5.3.
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

// mitigations lists the vulnerabilities of this processor and the mitigation of each.
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

const cgroupDir = "sys/fs/cgroup"

// unlimited is the kernel's text for no limit.
const unlimited = "max"

// readCgroup reads the limits that hold for this process. A limit of any ancestor holds too, so it is the
// tightest that counts.
func readCgroup(root fs.FS, f *facts) {
	text, err := readText(root, "proc/self/cgroup")
	if err != nil {
		for _, name := range []string{"cgroup.version", "cgroup.cpu_max", "cgroup.memory_max", "cgroup.cpuset"} {
			f.put(name)("", err)
		}
		return
	}
	groups := cgroups(text)
	f.set("cgroup.version", groups.version())
	f.put("cgroup.cpu_max")(tightest(root, groups.chain("cpu"), cpuMax))
	f.put("cgroup.memory_max")(tightest(root, groups.chain("memory"), memoryMax))
	f.put("cgroup.cpuset")(cpuset(root, groups.chain("cpuset")))
}

// controllers returns the path of this process for each controller of version 1, and under the empty name for
// version 2.
type controllers map[string]string

// cgroups reads /proc/self/cgroup: lines of ID:controllers:path.
func cgroups(text string) controllers {
	found := controllers{}
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for name := range strings.SplitSeq(fields[1], ",") {
			found[name] = fields[2]
		}
	}
	return found
}

// version reports which version the limits come from.
func (c controllers) version() string {
	if _, ok := c["memory"]; ok {
		return "1"
	}
	if _, ok := c[""]; ok {
		return "2"
	}
	return ""
}

// chain lists the directories of a controller from this process's group up to the root of the hierarchy. In a
// container the inner ones may not be visible.
func (c controllers) chain(controller string) []string {
	base, group := cgroupDir+"/"+controller, c[controller]
	if group == "" {
		base, group = cgroupDir, c[""]
	}
	group = path.Join("/", group)
	var dirs []string
	for ; group != "/"; group = path.Dir(group) {
		dirs = append(dirs, base+group)
	}
	return append(dirs, base)
}

// tightest returns the smallest limit that holds in any of the directories.
func tightest(root fs.FS, dirs []string, limit func(fs.FS, string) (float64, error)) (string, error) {
	smallest, found := 0.0, false
	for _, dir := range dirs {
		value, err := limit(root, dir)
		if errors.Is(err, errNoLimit) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if !found || value < smallest {
			smallest, found = value, true
		}
	}
	if found {
		return strconv.FormatFloat(smallest, 'f', -1, 64), nil
	}
	// The last one is the mount point: if it does not exist, no limit was read.
	if _, err := fs.Stat(root, dirs[len(dirs)-1]); err != nil {
		return "", err
	}
	return unlimited, nil
}

var errNoLimit = errors.New("no limit")

// cpuMax reads how many processors' time a group may use.
func cpuMax(root fs.FS, dir string) (float64, error) {
	quota, period := "", ""
	text, err := readText(root, dir+"/cpu.max")
	if err == nil {
		quota, period, _ = strings.Cut(text, " ")
	} else if quota, err = readText(root, dir+"/cpu.cfs_quota_us"); err == nil {
		period, err = readText(root, dir+"/cpu.cfs_period_us")
	}
	if err != nil {
		return 0, err
	}
	if quota == unlimited || quota == "-1" {
		return 0, errNoLimit
	}
	q, err1 := strconv.ParseUint(quota, 10, 63)
	p, err2 := strconv.ParseUint(period, 10, 63)
	if err1 != nil || err2 != nil || p == 0 {
		return 0, malformed("a limit of processor time", quota+" "+period)
	}
	return float64(q) / float64(p), nil
}

// memoryMax reads how many bytes a group may use.
func memoryMax(root fs.FS, dir string) (float64, error) {
	text, err := readText(root, dir+"/memory.max")
	if err != nil {
		if text, err = readText(root, dir+"/memory.limit_in_bytes"); err != nil {
			return 0, err
		}
	}
	// In version 1, no limit is the largest multiple of a page.
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && n < 1<<62 {
		return float64(n), nil
	} else if err == nil || text == unlimited {
		return 0, errNoLimit
	}
	return 0, malformed("a limit of memory", text)
}

// cpuset reads the processors that the innermost visible group may use.
func cpuset(root fs.FS, dirs []string) (string, error) {
	for _, dir := range dirs {
		for _, name := range []string{"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"} {
			text, err := readText(root, dir+name)
			if err == nil && text != "" {
				return text, nil
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
	}
	return "", fs.ErrNotExist
}

// readContainer detects the container engine, and the evidence for it. A virtual machine made from an image may have the same marks.
func readContainer(opts Options, f *facts) {
	engine, evidence := container(opts)
	f.set("container", engine)
	f.set("container.evidence", evidence)
}

func container(opts Options) (engine, evidence string) {
	if slices.ContainsFunc(opts.Environ, func(v string) bool { return strings.HasPrefix(v, "KUBERNETES_SERVICE_HOST=") }) {
		return "kubernetes", "KUBERNETES_SERVICE_HOST"
	}
	if name, err := readText(opts.Root, "run/systemd/container"); err == nil && name != "" {
		return name, "/run/systemd/container"
	}
	if _, err := fs.Stat(opts.Root, "run/.containerenv"); err == nil {
		return "podman", "/run/.containerenv"
	}
	groups, _ := readText(opts.Root, "proc/self/cgroup")
	for _, mark := range [][2]string{
		{"kubepods", "kubernetes"},
		{"libpod", "podman"},
		{"docker", "docker"},
		{"containerd", "containerd"},
		{"lxc", "lxc"},
	} {
		if strings.Contains(groups, mark[0]) {
			return mark[1], "/proc/self/cgroup"
		}
	}
	if _, err := fs.Stat(opts.Root, ".dockerenv"); err == nil {
		return "docker", "/.dockerenv"
	}
	return "", ""
}

// hypervisors are words in the names that virtual machines give themselves.
var hypervisors = [][2]string{
	{"KVM", "kvm"},
	{"QEMU", "qemu"},
	{"VMware", "vmware"},
	{"VirtualBox", "virtualbox"},
	{"Amazon EC2", "amazon"},
	{"Google", "google"},
	{"Microsoft", "microsoft"},
	{"Xen", "xen"},
	{"HVM domU", "xen"},
	{"Parallels", "parallels"},
}

// readVirtualization determines the hypervisor: none, or vm if it is unknown. Only x86 has a flag for it; the names alone may belong to
// a maker of real machines. It needs system.vendor and system.product.
func readVirtualization(root fs.FS, f *facts) {
	info, err := cpuinfo(root)
	if err != nil {
		f.put("virtualization")("", err)
		return
	}
	flags, ok := info["flags"]
	if !ok {
		f.miss("virtualization", unsupported)
		return
	}
	if !slices.Contains(strings.Fields(flags), "hypervisor") {
		f.set("virtualization", "none")
		return
	}
	names := f.known["system.vendor"] + " " + f.known["system.product"]
	for _, known := range hypervisors {
		if strings.Contains(names, known[0]) {
			f.set("virtualization", known[1])
		}
	}
	f.set("virtualization", "vm")
}
