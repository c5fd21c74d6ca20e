package probe

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestMain lets the test binary be the process that asks the driver, and some that behave badly.
func TestMain(m *testing.M) {
	if code, handled := Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	if len(os.Args) == 3 && os.Args[1] == "misbehave" {
		switch os.Args[2] {
		case "hang":
			time.Sleep(time.Hour)
		case "garbage":
			fmt.Println(`{"facts":{}} and more`)
		case "foreign":
			fmt.Println(`{"facts":{"machine":"lab3"}}`)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// server is a machine with two sockets of two cores of two threads, in a container.
var server = map[string]string{
	"proc/cpuinfo": "processor\t: 0\nmodel name\t: AMD EPYC 7B13 64-Core Processor\nmicrocode\t: 0xa0011d1\n" +
		"flags\t\t: fpu avx2 fma avx512f hypervisor\n\nprocessor\t: 1\nmodel name\t: another\n",
	"proc/cmdline":                                                     "quiet isolcpus=2,3 api_key=hunter2",
	"proc/loadavg":                                                     "0.25 0.10 0.05 1/200 4242",
	"proc/meminfo":                                                     "MemTotal:       16209336 kB\nMemFree: 1 kB\nSwapTotal:  4 kB\nSwapFree: 1 kB\n",
	"proc/pressure/cpu":                                                "some avg10=1.50 avg60=0.39 avg300=2.88 total=28986467\n",
	"proc/self/personality":                                            "00040000\n",
	"proc/stat":                                                        "cpu  300 0 100 1550 0 0 0 50 20 0\ncpu0 1 2 3\n",
	"proc/self/cgroup":                                                 "0::/kubepods.slice/pod1\n",
	"proc/self/status":                                                 "Name:\tneurolens\nCpus_allowed_list:\t2-3\nMems_allowed_list:\t0\n",
	"proc/sys/kernel/osrelease":                                        "6.18.44\n",
	"proc/sys/kernel/randomize_va_space":                               "2\n",
	"etc/machine-id":                                                   "0123456789abcdef0123456789abcdef\n",
	"etc/os-release":                                                   "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
	"sys/class/dmi/id/sys_vendor":                                      "QEMU\n",
	"sys/class/hwmon/hwmon0/name":                                      "nvme\n",
	"sys/class/hwmon/hwmon0/temp1_input":                               "99000\n",
	"sys/class/hwmon/hwmon1/name":                                      "k10temp\n",
	"sys/class/hwmon/hwmon1/temp1_input":                               "41250\n",
	"sys/class/hwmon/hwmon1/temp3_input":                               "44500\n",
	"sys/class/hwmon/hwmon1/temp4_input":                               "39000\n",
	"sys/class/hwmon/hwmon1/temp3_label":                               "Tccd1\n",
	"sys/devices/system/cpu/isolated":                                  "\n",
	"sys/devices/system/cpu/nohz_full":                                 "(null)\n",
	"sys/devices/system/cpu/online":                                    "0-7\n",
	"sys/devices/system/cpu/smt/active":                                "1\n",
	"sys/devices/system/node/online":                                   "0-1\n",
	"sys/fs/cgroup/cgroup.controllers":                                 "cpu memory\n",
	"sys/fs/cgroup/kubepods.slice/cpu.max":                             "300000 100000\n",
	"sys/fs/cgroup/kubepods.slice/pod1/cpu.max":                        "150000 100000\n",
	"sys/fs/cgroup/memory.max":                                         "max\n",
	"sys/kernel/mm/transparent_hugepage/enabled":                       "always [madvise] never\n",
	"sys/fs/cgroup/kubepods.slice/memory.max":                          "8589934592\n",
	"sys/fs/cgroup/kubepods.slice/pod1/memory.max":                     "17179869184\n",
	"sys/fs/cgroup/kubepods.slice/cpuset.cpus.effective":               "2-3\n",
	"sys/devices/system/cpu/cpu0/cache/index0/level":                   "1\n",
	"sys/devices/system/cpu/cpu0/cache/index0/type":                    "Data\n",
	"sys/devices/system/cpu/cpu0/cache/index0/size":                    "32K\n",
	"sys/devices/system/cpu/cpu0/cache/index1/level":                   "3\n",
	"sys/devices/system/cpu/cpu0/cache/index1/type":                    "Unified\n",
	"sys/devices/system/cpu/cpu0/cache/index1/size":                    "32M\n",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_governor":          "performance\n",
	"sys/devices/system/cpu/cpufreq/policy1/scaling_governor":          "powersave\n",
	"sys/devices/system/cpu/cpufreq/policy2/scaling_governor":          "performance\n",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq":          "3540000\n",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq":          "2596136\n",
	"sys/devices/system/cpu/intel_pstate/no_turbo":                     "1\n",
	"sys/devices/system/cpu/cpu0/topology/core_cpus_list":              "0,4\n",
	"sys/devices/system/cpu/cpu1/topology/core_cpus_list":              "1,5\n",
	"sys/devices/system/cpu/cpu2/topology/core_cpus_list":              "2,6\n",
	"sys/devices/system/cpu/cpu3/topology/core_cpus_list":              "3,7\n",
	"sys/devices/system/cpu/cpu0/topology/core_siblings_list":          "0-1,4-5\n",
	"sys/devices/system/cpu/cpu2/topology/core_siblings_list":          "2-3,6-7\n",
	"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "3\n",
	"sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count": "4\n",
	"sys/class/power_supply/AC/type":                                   "Mains\n",
	"sys/class/power_supply/BAT0/type":                                 "Battery\n",
	"sys/class/power_supply/BAT0/status":                               "Not charging\n",
	"sys/class/power_supply/hidpp0/type":                               "Battery\n",
	"sys/class/power_supply/hidpp0/scope":                              "Device\n",
	"sys/class/power_supply/hidpp0/status":                             "Discharging\n",
	"sys/devices/system/cpu/vulnerabilities/meltdown":                  "Not affected\n",
	"sys/devices/system/cpu/vulnerabilities/spectre_v1":                "Mitigation: barriers\n",
}

func tree(files map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

// noGPU returns what a machine without a driver says.
func noGPU(context.Context) Devices { return Devices{Missing: map[string]string{"gpu": absent}} }

func readTree(t *testing.T, root fs.FS) schema.Env {
	t.Helper()
	return Read(t.Context(), Options{
		Root: root, Dir: t.TempDir(), Version: "0.1", GPU: noGPU,
		Environ: []string{"OMP_NUM_THREADS=4", "HOME=/root", "CUDA_TOKEN=abc", "MKL_DEBUG=", "LD_PRELOADED=x"},
	})
}

func TestReadKnowsAServer(t *testing.T) {
	env := readTree(t, tree(server))
	want := map[string]string{
		"aslr":                     "2",
		"aslr.process":             "false",
		"cpu.steal_since_boot":     "2.5",
		"cpu.throttles_since_boot": "7",
		"power.battery":            "not charging",
		"cgroup.cpu_max":           "1.5",
		"cgroup.cpuset":            "2-3",
		"cgroup.memory_max":        "8589934592",
		"cgroup.version":           "2",
		"container":                "kubernetes",
		"container.evidence":       "/proc/self/cgroup",
		"cpu.affinity":             "2-3",
		"cpu.boost":                "false",
		"cpu.cache.l1d":            "32768",
		"cpu.cache.l3":             "33554432",
		"cpu.cores":                "4",
		"cpu.frequency":            "2596.136",
		"cpu.frequency_max":        "3540",
		"cpu.governor":             "performance,powersave",
		"cpu.isa":                  "fma avx2 avx512f",
		"cpu.isolated":             "none",
		"cpu.microcode":            "0xa0011d1",
		"cpu.mitigations":          "spectre_v1=Mitigation: barriers",
		"cpu.model":                "AMD EPYC 7B13 64-Core Processor",
		"cpu.nohz_full":            "none",
		"cpu.smt":                  "true",
		"cpu.sockets":              "2",
		"cpu.temperature":          "44.5",
		"cpu.threads":              "8",
		"env.CUDA_TOKEN":           "<hidden>",
		"env.OMP_NUM_THREADS":      "4",
		"go.version":               runtime.Version(),
		"load.1m":                  "0.25",
		"machine.source":           "fingerprint",
		"memory.swap":              "4096",
		"memory.swap_used":         "3072",
		"memory.total":             "16598360064",
		"neurolens.version":        "0.1",
		"numa.affinity":            "0",
		"numa.nodes":               "2",
		"os.cmdline":               "quiet isolcpus=2,3 api_key=<hidden>",
		"os.distribution":          "Debian GNU/Linux 12 (bookworm)",
		"os.kernel":                "6.18.44",
		"os.name":                  runtime.GOOS,
		"psi.cpu_some_avg10":       "1.5",
		"system.vendor":            "QEMU",
		"thp":                      "madvise",
		"virtualization":           "qemu",
	}
	got := maps.Clone(env.Facts)
	if name, err := exec.Command("uname", "-m").Output(); err == nil && got["cpu.architecture"] != strings.TrimSpace(string(name)) {
		t.Errorf("the architecture is %q, uname says %q", got["cpu.architecture"], name)
	}
	for _, name := range []string{"host.name", "host.id", "machine", "cpu.architecture"} {
		delete(got, name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		valuetest.DeepEqual(t, got[name], want[name], name, env.Missing[name])
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("unexpected facts: %v", got)
	}
	checkColumns(t, env)
}

func checkColumns(t *testing.T, env schema.Env) {
	t.Helper()
	hostname, _ := os.Hostname()
	for _, c := range [][2]string{
		{env.CPUModel, "AMD EPYC 7B13 64-Core Processor"},
		{env.OS, runtime.GOOS},
		{env.OSKernel, "6.18.44"},
		{env.Hostname, hostname},
		{env.HostID, saltedID},
		{env.Machine, env.Facts["machine"]},
		{fmt.Sprint(*env.CPUCount, *env.MemoryBytes), "8 16598360064"},
		{fmt.Sprint(env.GPUCount, env.GPUName, env.GitDirty), "<nil><nil>"},
		{env.Missing["gpu"] + env.Missing["git.commit"], absent + absent},
	} {
		valuetest.DeepEqual(t, c[0], c[1])
	}
}

// An empty tree has a reason for everything that is asked for, whatever is there.
func TestReadGivesReasons(t *testing.T) {
	full, empty := readTree(t, tree(server)), readTree(t, fstest.MapFS{})
	for name := range full.Facts {
		own := strings.HasPrefix(name, "env.") || strings.HasPrefix(name, "cpu.cache.") ||
			slices.Contains([]string{"go.version", "neurolens.version", "os.name", "host.name", "machine.source", "cpu.architecture"}, name)
		if !own && empty.Missing[name] != absent {
			t.Errorf("%s: reason %q, want %s", name, empty.Missing[name], absent)
		}
	}
	denied := readTree(t, refusing{tree(server), "proc/meminfo", fs.ErrPermission})
	for _, name := range []string{"memory.total", "memory.swap", "machine"} {
		valuetest.DeepEqual(t, denied.Missing[name], permission, name)
	}
	for name := range denied.Missing {
		if _, known := denied.Facts[name]; known {
			t.Errorf("%s is both known and missing", name)
		}
	}
}

// refusing is a tree in which one file cannot be opened.
type refusing struct {
	fs.FS
	path string
	err  error
}

func (r refusing) Open(name string) (fs.File, error) {
	if name == r.path {
		return nil, &fs.PathError{Op: "open", Path: name, Err: r.err}
	}
	return r.FS.Open(name)
}

func TestFactsKeepTheFirstValueAndReason(t *testing.T) {
	f := newFacts()
	f.miss("a", permission)
	f.miss("a", absent)
	f.set("b", "1")
	f.set("b", "2")
	f.miss("b", timeout)
	f.set("c", strings.Repeat("x", longest-1)+"\u00e9")
	if f.missing["a"] != permission || f.known["b"] != "1" || f.missing["b"] != "" {
		t.Errorf("b is %q, missing %v", f.known["b"], f.missing)
	}
	if got := f.known["c"]; len(got) != longest-1 {
		t.Errorf("a long value keeps %d bytes, want %d: no half letters", len(got), longest-1)
	}
}

func TestVolatileIsSmall(t *testing.T) {
	want := map[string]string{
		"load.1m": "0.25", "psi.cpu_some_avg10": "1.5", "cpu.frequency": "2596.136", "cpu.temperature": "44.5",
		"memory.swap_used": "3072", "cpu.throttles.total": "7", "cpu.steal.total": "50", "cpu.time.total": "2000",
	}
	valuetest.DeepEqual(t, volatile(tree(server)), want)
}

func TestReadThisMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux describes itself in files")
	}
	env := Read(t.Context(), Options{Environ: os.Environ(), GPU: GPU})
	if env.Machine == "" && env.Missing["machine"] == "" || env.OSKernel == "" || env.CPUCount == nil || env.MemoryBytes == nil {
		t.Errorf("this machine: %+v", env)
	}
}

func TestContainerOfVersion1Cgroups(t *testing.T) {
	env := readTree(t, tree(map[string]string{
		"proc/self/cgroup":                                      "4:memory:/docker/abc\n3:cpuset:/\n1:cpu,cpuacct:/docker/abc\n0::/\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes":            "9223372036854771712\n",
		"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "1073741824\n",
		"sys/fs/cgroup/cpu/cpu.cfs_quota_us":                    "-1\n",
		"sys/fs/cgroup/cpu/cpu.cfs_period_us":                   "100000\n",
		"sys/fs/cgroup/cpuset/cpuset.cpus":                      "0-3\n",
	}))
	for name, want := range map[string]string{
		"cgroup.version": "1", "cgroup.memory_max": "1073741824", "cgroup.cpu_max": "max", "cgroup.cpuset": "0-3",
		"container": "docker",
	} {
		valuetest.DeepEqual(t, env.Facts[name], want, name)
	}
	env = readTree(t, tree(map[string]string{
		"proc/self/cgroup":                           "4:memory:/\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
	}))
	valuetest.DeepEqual(t, env.Facts["cgroup.memory_max"], unlimited)
}

func TestVirtualization(t *testing.T) {
	for _, c := range []struct{ flags, product, want string }{
		{"fpu", "KVM", "none"}, // the flag decides
		{"fpu hypervisor", "KVM Virtual Machine", "kvm"},
		{"fpu hypervisor", "", "vm"},
		{"fpu hypervisor", "Standard PC", "vm"},
	} {
		env := readTree(t, tree(map[string]string{
			"proc/cpuinfo": "flags\t: " + c.flags + "\n", "sys/class/dmi/id/product_name": c.product,
		}))
		valuetest.DeepEqual(t, env.Facts["virtualization"], c.want, c)
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		Read(b.Context(), Options{Environ: os.Environ(), GPU: GPU})
	}
}

func BenchmarkVolatile(b *testing.B) {
	for b.Loop() {
		volatile(nil)
	}
}

// TestEnviron: variables that libraries listen to are stored, others are not. One may hold the value of a secret one.
func TestEnviron(t *testing.T) {
	t.Parallel()
	f := newFacts()
	readEnviron([]string{"MY_API_TOKEN=abcd1234efgh", "LD_LIBRARY_PATH=/opt/abcd1234efgh/lib:/usr/lib", "OMP_SECRET_TOKEN=x", "LC_ALL=C", "MALLOC_ARENA_MAX=1", "MODE=slow"}, f)
	valuetest.DeepEqual(t, f.known["env.LD_LIBRARY_PATH"], "/opt/<hidden>/lib:/usr/lib")
	if f.known["env.LC_ALL"] != "C" || f.known["env.MALLOC_ARENA_MAX"] != "1" || f.known["env.MODE"] != "" {
		t.Errorf("%v", f.known)
	}
	valuetest.DeepEqual(t, f.known["env.OMP_SECRET_TOKEN"], "<hidden>")
}

// run runs a tool in dir, apart from any configuration of this machine.
func run(t testing.TB, dir, tool string, args ...string) string {
	t.Helper()
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	return strings.TrimSpace(valuetest.Run(t, cmd))
}

func gitFacts(t *testing.T, dir string) *facts {
	t.Helper()
	f := newFacts()
	readGit(t.Context(), dir, f)
	return f
}

func write(t *testing.T, path, text string) {
	t.Helper()
	valuetest.OK(t, os.WriteFile(path, []byte(text), 0o666))
}

func TestGit(t *testing.T) {
	valuetest.Program(t, "git")
	dir := t.TempDir()
	if f := gitFacts(t, dir); f.missing["git.commit"] != absent {
		t.Errorf("no repository: %v", f.missing)
	}
	run(t, dir, "git", "init", "-q", "-b", "trunk")
	if f := gitFacts(t, dir); f.missing["git.commit"] != absent || f.known["git.branch"] != "trunk" {
		t.Errorf("no commit: %v %v", f.known, f.missing)
	}
	write(t, filepath.Join(dir, "a"), "1")
	run(t, dir, "git", "add", "a")
	run(t, dir, "git", "commit", "-q", "-m", "x")
	commit := run(t, dir, "git", "rev-parse", "HEAD")
	t.Setenv("GIT_DIR", "/nonexistent") // as inside a hook; it must not lead elsewhere
	f := gitFacts(t, dir)
	os.Unsetenv("GIT_DIR")
	if f.known["git.commit"] != commit {
		t.Errorf("in a hook: %v %v, want %s", f.known, f.missing, commit)
	}

	run(t, dir, "git", "checkout", "-q", "--detach")
	f = gitFacts(t, dir)
	if f.missing["git.branch"] != absent {
		t.Errorf("detached: %v %v", f.known, f.missing)
	}
}

// TestBareRepositoryInAClone: a clone may bring a folder along that looks like a bare repository. Nothing that its configuration names
// runs.
func TestBareRepositoryInAClone(t *testing.T) {
	valuetest.Program(t, "git")
	dir := t.TempDir()
	run(t, dir, "git", "init", "-q")
	write(t, filepath.Join(dir, "a.txt"), "1")
	write(t, filepath.Join(dir, ".gitattributes"), "*.txt filter=x\n")
	run(t, dir, "git", "add", ".")
	run(t, dir, "git", "commit", "-q", "-m", "x")
	tree := filepath.Join(dir, ".git")
	for _, name := range []string{"a.txt", ".gitattributes"} {
		valuetest.OK(t, os.Rename(filepath.Join(dir, name), filepath.Join(tree, name)))
	}
	folder := filepath.Join(dir, "folder")
	valuetest.OK(t, os.Rename(tree, folder))
	ran := filepath.Join(dir, "ran")
	write(t, filepath.Join(folder, "config"), "[core]\n\tbare = false\n\tworktree = .\n[filter \"x\"]\n\tclean = \"touch "+ran+"; cat\"\n")
	write(t, filepath.Join(folder, "a.txt"), "2")
	if f := gitFacts(t, folder); f.known["git.commit"] != "" || f.missing["git.commit"] != permission {
		t.Errorf("%v %v", f.known, f.missing)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the filter of the folder ran")
	}
}

func TestGitErrors(t *testing.T) {
	valuetest.Program(t, "git")
	if f := gitFacts(t, filepath.Join(t.TempDir(), "gone")); f.missing["git.commit"] != absent {
		t.Errorf("no folder: %v", f.missing)
	}
	dubious := &exec.ExitError{Stderr: []byte("fatal: detected dubious ownership in repository at '/x'")}
	valuetest.DeepEqual(t, reason(gitError(dubious)), permission, "dubious ownership")
	valuetest.DeepEqual(t, reason(gitError(&exec.ExitError{Stderr: []byte("fatal: unknown")})), unsupported, "unknown error")
	t.Setenv("PATH", t.TempDir())
	if f := gitFacts(t, "."); f.missing["git.commit"] != absent {
		t.Errorf("no git: %v", f.missing)
	}
}

func TestParsers(t *testing.T) {
	for _, c := range []struct {
		name  string
		parse func(string) (string, error)
		text  string
		want  string // empty: refused
	}{
		{"integer", integer, "-1", "-1"},
		{"integer", integer, "many", ""},
		{"flag", flag, "2", ""},
		{"inverted", inverted, "0", "true"},
		{"inverted", inverted, "no", ""},
		{"chosen", chosen, "always madvise [never]", "never"},
		{"chosen", chosen, "always", ""},
		{"kilohertz", kilohertz, "3540500", "3540.5"},
		{"kilohertz", kilohertz, "<unknown>", ""},
		{"number", number, "NaN", ""},
		{"number", number, "+Inf", ""},
		{"pressure", pressure, "full avg10=1.0", ""},
		{"pressure", pressure, "some avg10=0.00 avg60=1.00", "0"},
		{"size", size, "512", "512"},
		{"size", size, "1G", "1073741824"},
		{"size", size, "1KK", ""},
		{"size", size, "9223372036854775807K", ""},
		{"size", size, "-1K", ""},
		{"distribution", distribution, "NAME=x\nPRETTY_NAME='y z'\n", "y z"},
		{"listLength", listLength, "0-3,8,10-11", "7"},
		{"listLength", listLength, "3-0", ""},
		{"listLength", listLength, "0-99999999", ""},
		{"listLength", listLength, "", ""},
		{"status", status("A"), "B:\t1\nA:\t2\n", "2"},
		{"status", status("A"), "AB:\t1\n", ""},
		{"swapUsed", swapUsed, "SwapTotal: 8 kB\nSwapFree: 5 kB\n", "3072"},
		{"swapUsed", swapUsed, "SwapTotal: 8 kB\nSwapFree: 9 kB\n", ""},
		{"swapUsed", swapUsed, "SwapTotal: 8 kB\n", ""},
		{"randomized", randomized, "00000000", "true"},
		{"randomized", randomized, "00440000", "false"},
		{"randomized", randomized, "z", ""},
		{"stolenShare", stolenShare, "cpu  1 0 0 998 0 0 0 1 7 7\n", "0.1"},
		{"stolenShare", stolenShare, "cpu  0 0 0 0 0 0 0 0 0 0\n", ""},
		{"stolenShare", stolenShare, "cpu  1 0 0 998 0 0\n", ""},
		{"stolenShare", stolenShare, "cpu  1 0 0 -998 0 0 0 1 7 7\n", ""},
	} {
		got, err := c.parse(c.text)
		if err != nil {
			got = ""
		}
		valuetest.DeepEqual(t, got, c.want, c.name, c.text)
	}
}

func TestScrub(t *testing.T) {
	for _, c := range [][3]string{
		{"OMP_NUM_THREADS", "4", "4"},
		{"NCCL_AUTH_TOKEN", "4", hidden},
		{"TORCH_API_KEY", "4", hidden},
		{"TORCH_MONKEY", "4", "4"},
		{"XLA_FLAGS", "--dump_to=https://me:pw@host/x --k=2", "--dump_to=https://<hidden>@host/x --k=2"},
		{"TORCH_HOME", "/a/hf_abcdefghijklmnopqrstuvwx/b", "/a/<hidden>/b"},
		{"LD_LIBRARY_PATH", "/opt/sk-learn/lib", "/opt/sk-learn/lib"},
	} {
		valuetest.DeepEqual(t, scrub(c[0], c[1]), c[2], c[0], c[1])
	}
}

func TestARMProcessorHasAName(t *testing.T) {
	env := readTree(t, tree(map[string]string{
		"proc/cpuinfo": "processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n",
	}))
	if want := "ARM implementer 0x41 part 0xd40"; env.CPUModel != want || env.Facts["cpu.isa"] != "asimd sve" {
		t.Errorf("model %q, isa %q, want %q", env.CPUModel, env.Facts["cpu.isa"], want)
	}
	valuetest.DeepEqual(t, env.Missing["virtualization"], unsupported, "virtualization")
}

// FuzzHost gives every file the same content. Each fact has to be a clean text or a reason, never both.
func FuzzHost(f *testing.F) {
	paths := slices.Sorted(maps.Keys(server))
	for _, text := range server {
		f.Add([]byte(text))
	}
	f.Add([]byte("0::/../../..\n1:cpu:\n:::"))
	f.Fuzz(func(t *testing.T, content []byte) {
		root := fstest.MapFS{}
		for _, path := range paths {
			root[path] = &fstest.MapFile{Data: content}
		}
		facts := newFacts()
		readHost(Options{Root: root, Environ: []string{"OMP_X=" + string(content), "KUBERNETES=1"}}, facts)
		readMachine("", facts)
		facts.env()
		for name, value := range facts.known {
			if value == "" || value != strings.TrimSpace(value) || !utf8.ValidString(value) || len(value) > longest {
				t.Errorf("%s = %q", name, value)
			}
			if why, both := facts.missing[name]; both {
				t.Errorf("%s = %q and missing, %s", name, value, why)
			}
		}
		for name, why := range facts.missing {
			if !slices.Contains([]string{absent, permission, unsupported, timeout}, why) {
				t.Errorf("%s is missing for %q", name, why)
			}
		}
	})
}

func FuzzCPUList(f *testing.F) {
	f.Add("0-3,8")
	f.Add("0-65535,0-65535,0-65535")
	f.Fuzz(func(t *testing.T, text string) {
		cpus, err := cpuList(text)
		if err == nil && (len(cpus) == 0 || len(cpus) > 2*maxCPUs) {
			t.Errorf("%q: %d processors", text, len(cpus))
		}
	})
}

func FuzzDevices(f *testing.F) {
	f.Add([]byte(`{"facts":{"gpu.count":"1","gpu.0.name":"H100"},"missing":{"gpu.0.mig":"unsupported"}}`))
	f.Add([]byte(`{"facts":null} {}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		devices, err := parseDevices(document)
		if err != nil {
			return
		}
		for name := range devices.Facts {
			if !strings.HasPrefix(name, "gpu") {
				t.Errorf("fact %q accepted", name)
			}
		}
	})
}
