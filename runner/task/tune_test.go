package task

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/neurolens/neurolens/runner/tune"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestProcessSettings: the processes of a command and a worker have the settings, which are facts, and a supervisor that has them serves the
// next run.
func TestProcessSettings(t *testing.T) {
	var allowed unix.CPUSet
	valuetest.OK(t, unix.SchedGetaffinity(0, &allowed))
	last := 0
	for n := range runtime.NumCPU() * 64 {
		if allowed.IsSet(n) {
			last = n
		}
	}
	nice := 3
	process := tune.Process{FixedAddresses: true, Nice: &nice, Processors: []int{last}}
	want := map[string]string{"tune.aslr": "off", "tune.nice": "3", "tune.affinity": strconv.Itoa(last)}

	t.Setenv("TMPDIR", t.TempDir())
	spec := shell(`[ "$(cat /proc/self/personality)" = 00040000 ] && [ "$(nice)" = 3 ] && grep -q "^Cpus_allowed_list:	` + strconv.Itoa(last) + `$" /proc/self/status`)
	spec.Process = process
	pool := testPool(t)
	spec.Env = append(spec.Env, "SUPERVISOR="+t.TempDir()+"/pid")
	spec.Hooks.Setup = []string{"sh", "-c", `echo $PPID >> "$SUPERVISOR"`}
	for range 2 {
		o := valuetest.Must(pool.Run(t.Context(), spec, nil))
		check(t, o, "ok", "", "")
		for fact, value := range want {
			valuetest.Equal(t, o.Facts[fact], value)
		}
	}
	valuetest.OK(t, pool.Close())
	pids := valuetest.Must(os.ReadFile(spec.Env[0][len("SUPERVISOR="):]))
	if n := len(pids) / 2; string(pids[:n]) != string(pids[n:]) {
		t.Errorf("supervisors %q: want one for both runs", pids)
	}

	spec = builtin("ok")
	spec.Process = process
	o := runOK(t, spec)
	for fact, value := range want {
		valuetest.Equal(t, o.Facts[fact], value)
	}

	spec = shell("true")
	spec.Process.Processors = []int{8191}
	o = runOK(t, spec)
	valuetest.Equal(t, o.Missing["tune.affinity"], "absent: no such processors, or not for this process")
}
