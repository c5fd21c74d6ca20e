package tune

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// roleHolder makes the test binary a process that holds a tree. It says each step, and goes on when it is told to.
const roleHolder = "__tune-holder"

func TestMain(m *testing.M) {
	if code, handled := Main(os.Args); handled {
		os.Exit(code)
	}
	if len(os.Args) == 3 && os.Args[1] == roleHolder {
		os.Exit(playHolder(os.Args[2]))
	}
	os.Exit(m.Run())
}

func playHolder(root string) int {
	told := bufio.NewScanner(os.Stdin)
	step := func(name string) {
		fmt.Println(name)
		told.Scan()
	}
	held, err := Hold(root, all(), step)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	step("release")
	r := held.Release()
	fmt.Println("released", r.Kept, r.Err())
	return 0
}

// all are wishes for everything that a tree of files has.
func all() []Wish {
	wishes, err := Parse([]string{Default, SMT, "irq=0-1"})
	if err != nil {
		panic(err)
	}
	return wishes
}

// values are the files of a tree before anything is held.
var values = map[string]string{
	cpuTree + "/cpufreq/policy0/scaling_governor": "powersave",
	cpuTree + "/cpufreq/policy1/scaling_governor": "ondemand",
	cpuTree + "/cpufreq/boost":                    "1",
	cpuTree + "/smt/control":                      "on",
	"proc/irq/4/smp_affinity_list":                "0-3",
	"proc/irq/5/smp_affinity_list":                "0-1",
}

// held are the same files while everything is held.
var held = map[string]string{
	cpuTree + "/cpufreq/policy0/scaling_governor": "performance",
	cpuTree + "/cpufreq/policy1/scaling_governor": "performance",
	cpuTree + "/cpufreq/boost":                    "0",
	cpuTree + "/smt/control":                      "off",
	"proc/irq/4/smp_affinity_list":                "0-1",
	"proc/irq/5/smp_affinity_list":                "0-1",
}

func newTree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{}
	for path, value := range values {
		files[path] = value + "\n"
	}
	valuetest.Files(t, root, files)
	return root
}

func checkTree(t *testing.T, root string, want map[string]string, context string) {
	t.Helper()
	for path, value := range want {
		text, err := tree(root).read(path)
		if err != nil || text != value {
			t.Errorf("%s: %s is %q, %v: want %q", context, path, text, err, value)
		}
	}
}

func TestHold(t *testing.T) {
	root := newTree(t)
	var steps []string
	h := valuetest.Must(Hold(root, all(), func(step string) {
		steps = append(steps, step)
		if strings.HasPrefix(step, "write ") || step == "guard" {
			text := valuetest.Must(os.ReadFile(filepath.Join(root, restoreFile)))
			valuetest.Contains(t, string(text), `"was": "powersave"`) // before the first write
		}
		if step == "guard" {
			checkTree(t, root, values, "before the guard")
		}
	}))
	checkTree(t, root, held, "held")
	valuetest.DeepEqual(t, h.Results, []Result{{Name: Governor, Value: "performance"}, {Name: Turbo, Value: "off"}, {Name: SMT, Value: "off"}, {Name: IRQ, Value: "0-1"}})
	_, err := Hold(root, all(), nil)
	valuetest.Fails(t, err, "another bench --tune or tune holds this machine")
	_, err = Restore(root)
	valuetest.Fails(t, err, "another bench --tune or tune holds this machine")
	r := h.Release()
	valuetest.OK(t, r.Err())
	valuetest.Equal(t, len(r.Kept), 0)
	checkTree(t, root, values, "released")
	r = valuetest.Must(Restore(root))
	valuetest.Equal(t, r.Count, 0)
	if !slices.Equal(steps[:3], []string{"begin", "record", "guard"}) || steps[len(steps)-1] != "held" {
		t.Errorf("steps %q", steps)
	}
}

// TestOthersChange: what somebody else has set meanwhile stays, and is reported.
func TestOthersChange(t *testing.T) {
	root := newTree(t)
	h := valuetest.Must(Hold(root, all(), nil))
	const governor = cpuTree + "/cpufreq/policy1/scaling_governor"
	valuetest.OK(t, tree(root).write(governor, "schedutil"))
	r := h.Release()
	valuetest.OK(t, r.Err())
	valuetest.DeepEqual(t, r.Kept, []string{governor + ` is now "schedutil", which somebody else set: it stays, and is not set back to "ondemand"`})
	for path, value := range values {
		if path == governor {
			value = "schedutil"
		}
		checkTree(t, root, map[string]string{path: value}, "released")
	}
}

// TestRefused: a value that the kernel changes is set back, and one that cannot be written has a reason. A process's name is a file that
// cuts what is written, as files of the kernel do.
func TestRefused(t *testing.T) {
	root := newTree(t)
	name := valuetest.Must(os.ReadFile("/proc/self/comm"))
	governor := filepath.Join(root, cpuTree, "cpufreq/policy0/scaling_governor")
	valuetest.OK(t, os.Remove(governor))
	valuetest.OK(t, os.Symlink("/proc/self/comm", governor))
	c := change{Governor, cpuTree + "/cpufreq/policy0/scaling_governor", strings.TrimSpace(string(name)), "performance-and-more-than-15-bytes"}
	err := tree(root).apply(c)
	valuetest.Equal(t, reason(err), `unsupported: sys/devices/system/cpu/cpufreq/policy0/scaling_governor reads "performance-and" after "performance-and-more-than-15-bytes" was written`)
	valuetest.Equal(t, string(valuetest.Must(os.ReadFile("/proc/self/comm"))), string(name))

	boost := filepath.Join(root, cpuTree, "cpufreq/boost")
	valuetest.OK(t, os.Remove(boost))
	valuetest.OK(t, os.Symlink("/proc/self/loginuid_of_nobody", boost))
	h := valuetest.Must(Hold(root, []Wish{{Turbo, "off"}, {IRQ, "0-1"}}, nil))
	valuetest.OK(t, h.Release().Err())
	valuetest.DeepEqual(t, h.Results, []Result{{Name: Turbo, Missing: "absent"}, {Name: IRQ, Value: "0-1"}})
}

// holder is a process that holds a tree, stopped before a step.
type holder struct {
	cmd   *exec.Cmd
	steps *bufio.Scanner
	goOn  io.WriteCloser
}

func startHolder(t *testing.T, root string) *holder {
	t.Helper()
	h := &holder{cmd: exec.Command(valuetest.Must(os.Executable()), roleHolder, root)}
	h.cmd.Stderr = os.Stderr
	h.steps, h.goOn = bufio.NewScanner(valuetest.Must(h.cmd.StdoutPipe())), valuetest.Must(h.cmd.StdinPipe())
	valuetest.OK(t, h.cmd.Start())
	t.Cleanup(func() { _ = h.cmd.Process.Kill(); _ = h.cmd.Wait() })
	return h
}

// to goes on to a step, by its number from 0; false: there are fewer.
func (h *holder) to(n int) bool {
	for i := range n + 1 {
		if !h.steps.Scan() || strings.HasPrefix(h.steps.Text(), "released") {
			return false
		}
		if i < n {
			_, _ = h.goOn.Write([]byte("\n"))
		}
	}
	return true
}

// end lets the holder go on to its end.
func (h *holder) end() (last string) {
	_, _ = h.goOn.Write([]byte("\n"))
	for h.steps.Scan() {
		last = h.steps.Text()
		_, _ = h.goOn.Write([]byte("\n"))
	}
	return last
}

// guardOf returns the guard of a tree; 0: there is none.
func guardOf(root string) (pid int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		text, err := os.ReadFile(file)
		if err == nil && strings.HasSuffix(string(text), "\x00"+roleGuard+"\x00"+root+"\x00") {
			_, _ = fmt.Sscanf(file, "/proc/%d/", &pid)
			return pid
		}
	}
	return 0
}

func isBusy(err error) bool {
	_, busy := errors.AsType[*BusyError](err)
	return busy
}

// TestKill kills whoever holds a tree, its guard, or both, before each step. The tree is then as it was: at once where a guard lives, else
// after Restore or the next Hold.
func TestKill(t *testing.T) {
	for _, victims := range []string{"holder", "guard", "both"} {
		t.Run(victims, func(t *testing.T) {
			steps := 0
			for ; ; steps++ {
				root := newTree(t)
				h := startHolder(t, root)
				if !h.to(steps) {
					break
				}
				killAt(t, root, h, victims, fmt.Sprintf("%s killed before step %d, %s", victims, steps, h.steps.Text()))
			}
			if steps != 10 { // begin, record, guard, 5 writes, held, release
				t.Errorf("%d steps: want 10", steps)
			}
		})
	}
}

func killAt(t *testing.T, root string, h *holder, victims, context string) {
	t.Helper()
	guard := guardOf(root)
	if victims != "holder" && guard != 0 {
		valuetest.OK(t, syscall.Kill(guard, syscall.SIGKILL))
	}
	if victims == "guard" {
		valuetest.Equal(t, h.end(), "released [] <nil>", context)
		checkTree(t, root, values, context)
		return
	}
	valuetest.OK(t, h.cmd.Process.Kill())
	_ = h.cmd.Wait()
	for guardOf(root) != 0 {
		time.Sleep(time.Millisecond)
	}
	if victims == "holder" && guard != 0 {
		checkTree(t, root, values, context)
	}
	r, err := Restore(root)
	for ; isBusy(err); r, err = Restore(root) { // the lock of a killed process ends with its last file
		time.Sleep(time.Millisecond)
	}
	valuetest.OK(t, err)
	valuetest.Equal(t, len(r.Kept), 0, context)
	checkTree(t, root, values, context+", restored")
	next := valuetest.Must(Hold(root, all(), nil))
	valuetest.Equal(t, len(next.Restored), 0, context)
	valuetest.OK(t, next.Release().Err())
	checkTree(t, root, values, context+", held again")
}

// TestNextRestores: who holds a tree next restores what was left.
func TestNextRestores(t *testing.T) {
	root := newTree(t)
	h := startHolder(t, root)
	if !h.to(9) {
		t.Fatal("no step release")
	}
	checkTree(t, root, held, "held")
	valuetest.OK(t, syscall.Kill(guardOf(root), syscall.SIGKILL))
	valuetest.OK(t, h.cmd.Process.Kill())
	_ = h.cmd.Wait()
	next, err := Hold(root, []Wish{{Turbo, "off"}}, nil)
	for ; isBusy(err); next, err = Hold(root, []Wish{{Turbo, "off"}}, nil) {
		time.Sleep(time.Millisecond)
	}
	valuetest.OK(t, err)
	valuetest.DeepEqual(t, next.Restored, []string{"restored 5 values that an interrupted tune had left"})
	valuetest.Equal(t, valuetest.Must(tree(root).read(cpuTree+"/smt/control")), "on")
	valuetest.OK(t, next.Release().Err())
	checkTree(t, root, values, "released")
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"default":                    "[{aslr off} {nice -10} {governor performance} {turbo off}]",
		"smt,aslr":                   "[{aslr off} {smt off}]",
		"default,nice=5":             "[{aslr off} {nice 5} {governor performance} {turbo off}]",
		"nice=5,default":             "[{aslr off} {nice 5} {governor performance} {turbo off}]",
		"affinity=2-3,irq=0-1":       "[{affinity 2-3} {irq 0-1}]",
		"gpu_clock=1410,gpu_power=9": "[{gpu_clock 1410} {gpu_power 9}]",
	} {
		valuetest.Equal(t, fmt.Sprint(valuetest.Must(Parse(strings.Split(text, ",")))), want)
	}
	for text, want := range map[string]string{
		"affinity":     `setting "affinity": want affinity=VALUE: processors such as 2-3`,
		"affinity=a":   `setting "affinity=a": want processors such as 2-3`,
		"affinity=3-2": `setting "affinity=3-2": want processors such as 2-3`,
		"affinity=":    `setting "affinity=": want processors such as 2-3`,
		"nice=20":      `setting "nice=20": want a number from -20 to 19`,
		"turbo=on":     `setting "turbo=on": turbo takes no value`,
		"gpu_clock=0":  `setting "gpu_clock=0": want MHz, as 1410`,
		"hz":           `setting "hz": want default, or one of aslr nice affinity governor turbo smt irq gpu_clock gpu_power`,
	} {
		_, err := Parse([]string{text})
		valuetest.ErrorText(t, err, want)
	}
	p := ProcessOf([]Wish{{ASLR, "off"}, {Nice, "5"}, {Affinity, "0,2-3"}, {Turbo, "off"}})
	valuetest.DeepEqual(t, p, Process{true, new(5), []int{0, 2, 3}})
	if p.None() || !ProcessOf([]Wish{{Turbo, "off"}}).None() {
		t.Error("None")
	}
}

// smiScript stands in for nvidia-smi: a power limit in a file, and a log of what changes clocks.
const smiScript = `#!/bin/sh
case "$*" in
*query-gpu=index*) echo 0 ;;
*query-gpu=power.limit*) cat "$SMI/power" ;;
*-pl*) echo "$4.00" >"$SMI/power" ;;
*) echo "$*" >>"$SMI/log" ;;
esac
`

// TestGPU: the power limit of a GPU is read back and restored; its clock, which the driver does not tell, is reset.
func TestGPU(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root changes GPUs")
	}
	dir := t.TempDir()
	valuetest.Files(t, dir, map[string]string{"power": "700.00\n"})
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(smiScript), 0o755))
	t.Setenv("SMI", dir)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	power := func() string {
		return strings.TrimSpace(string(valuetest.Must(os.ReadFile(filepath.Join(dir, "power")))))
	}
	h := valuetest.Must(Hold(t.TempDir(), []Wish{{GPUClock, "1410"}, {GPUPower, "250"}}, nil))
	valuetest.DeepEqual(t, h.Results, []Result{{Name: GPUClock, Value: "1410"}, {Name: GPUPower, Value: "250"}})
	valuetest.Equal(t, power(), "250.00")
	valuetest.OK(t, h.Release().Err())
	valuetest.Equal(t, power(), "700.00")
	log := string(valuetest.Must(os.ReadFile(filepath.Join(dir, "log"))))
	valuetest.Equal(t, log, "-i 0 -lgc 1410,1410\n-i 0 -rgc\n")
}
