package probe

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const cgroupDir = "sys/fs/cgroup"

// unlimited is the value of a limit that does not limit, as the kernel says it.
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
	// The last one is the mount point: where it is not there, nothing was looked at.
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
	// Version 1 says no limit as the largest multiple of a page.
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
