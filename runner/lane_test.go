package runner

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// twoDevices has points in blocks of two. A process waits until one of a point on the other device runs at the same time.
const twoDevices = `
command: [sh, -c, 'd=$CUDA_VISIBLE_DEVICES; touch $BOTH/$d; i=0; until [ $(ls $BOTH | wc -l) = $DEVICES ] || [ $i = 1200 ]; do sleep 0.05; i=$((i+1)); done; test $i != 1200 # {n} {variant}']
variant: [a, b]
grid: {n: [1, 2, 3, 4]}
repeats: 2
iterations: 1
warmup: 0
telemetry: {hz: 50}
`

// TestDevices: two devices measure at once. A point, and what it is compared with, has one device, which its processes see alone and whose
// readings its runs have. One that another session measures is left out. Without any the session does not begin.
func TestDevices(t *testing.T) {
	valuetest.Program(t, "gcc")
	lib, both := t.TempDir(), t.TempDir()
	replay := filepath.Join(lib, "replay.txt")
	valuetest.OK(t, os.WriteFile(replay, []byte("throttle 4\nthrottle.1 0\n"), 0o600)) // only the first one is slowed down
	valuetest.Run(t, exec.Command("gcc", "-shared", "-fPIC", "-DREPLAY="+strconv.Quote(replay), "-o", filepath.Join(lib, "libnvidia-ml.so.1"), "probe/testdata/fakenvml.c"))
	t.Setenv("LD_LIBRARY_PATH", lib)
	t.Setenv("BOTH", both)
	t.Setenv("DEVICES", "2")
	var busy []string
	measure := func(devices, locks string) (runs []schema.Run, err error) {
		busy = nil
		_, err = Run(t.Context(), parse(t, twoDevices), Options{Locks: locks, Devices: devices, Observe: func(e Event) {
			if e.Plan != nil {
				busy = e.Plan.Busy
			}
		}}, func(r schema.Run) error { runs = append(runs, r); return r.Validate() })
		return runs, err
	}
	runs, err := measure("all", t.TempDir())
	valuetest.OK(t, err)
	byBlock, devices := map[string]string{}, map[string]int{}
	for _, r := range runs {
		on := r.Env.Facts[schema.FactMeasuredDevice]
		devices[on]++
		if was := byBlock[r.Params["n"]]; was != "" && was != on {
			t.Errorf("points with n=%s ran on %s and %s", r.Params["n"], was, on)
		}
		byBlock[r.Params["n"]] = on
		visible := r.Env.Facts["env.CUDA_VISIBLE_DEVICES"]
		if r.Status != schema.StatusOK || device.GPU(visible) != on || r.Env.Facts["telemetry.device"] != visible || slices.Contains(r.Warnings, probe.WarnThrottled) != (on == "gpu-0") {
			t.Errorf("%s %s on %s, sees %q, readings of %q, warnings %v", r.Status, r.Error, on, visible, r.Env.Facts["telemetry.device"], r.Warnings)
		}
	}
	valuetest.DeepEqual(t, devices, map[string]int{"gpu-0": 8, "gpu-1": 8}, "runs by device")

	// A point that another device measured is measured again.
	for devices, want := range map[string]int{"all": 16, "0": 8} {
		result := valuetest.Must(Run(t.Context(), parse(t, twoDevices), Options{
			Locks: t.TempDir(), Devices: devices, DryRun: true, Rerun: RerunFailed, Done: func(string) ([]schema.Run, error) { return runs, nil },
		}, nil))
		valuetest.DeepEqual(t, result.Plan.Done, want, "done by the devices "+devices)
	}

	locks := t.TempDir()
	held := valuetest.Must(device.Lock(t.Context(), locks, []string{"gpu-1"}, nil))
	defer held.Release()
	valuetest.OK(t, os.RemoveAll(both))
	valuetest.OK(t, os.Mkdir(both, 0o700))
	t.Setenv("DEVICES", "1")
	runs, err = measure("0,1", locks)
	valuetest.OK(t, err)
	other := slices.ContainsFunc(runs, func(r schema.Run) bool {
		return r.Env.Facts[schema.FactMeasuredDevice] != "gpu-0" || r.Status != schema.StatusOK
	})
	if len(runs) != 16 || other || len(busy) != 1 || !strings.HasPrefix(busy[0], "gpu-1 is being measured by pid ") {
		t.Errorf("one device is busy: %d runs, on others or failed %v, left out %q", len(runs), other, busy)
	}

	runs, err = measure("1", locks)
	if _, isBusy := errors.AsType[*device.BusyError](err); !isBusy || len(runs) > 0 {
		t.Errorf("the only device is busy: %d runs, %v", len(runs), err)
	}
	t.Setenv("CUDA_VISIBLE_DEVICES", "1")
	_, err = measure("0", locks)
	if _, input := errors.AsType[*InputError](err); !input || !strings.Contains(err.Error(), `GPU "0" is not among those`) {
		t.Errorf("a device that was not given to this process: %v", err)
	}
	if _, err = measure("all", locks); err == nil || !strings.Contains(err.Error(), "gpu-1 is being measured") {
		t.Errorf("all visible devices are busy, and another is not visible: %v", err)
	}
	_, err = measure("7", locks)
	if _, input := errors.AsType[*InputError](err); !input || !strings.Contains(err.Error(), `no GPU "7": this machine has 2`) {
		t.Errorf("a device that is not there: %v", err)
	}
}

// TestQuarantine: after a run whose processes cannot be killed, its device runs nothing more. Points of the processor still run.
func TestQuarantine(t *testing.T) {
	on := &lane{devices: []string{"gpu-0"}}
	on.quarantine(&schema.Run{RunID: "R", Status: schema.StatusTimeout})
	valuetest.DeepEqual(t, on.refused, "", "refused after a timeout")
	on.quarantine(&schema.Run{RunID: "R", Status: schema.StatusUnkillable})
	s := &session{sweep: parse(t, twoDevices), limits: limits{now: time.Now, first: time.Now(), timeout: time.Hour}}
	o := s.refusal(on, sweep.Launch{Point: &s.sweep.Points[0]}, nil)
	if o == nil || o.Status != schema.StatusSkipped || o.ErrorKind != kindQuarantine || !strings.Contains(o.Error, "run R that could not be killed") {
		t.Errorf("a launch on the device is %+v", o)
	}
	processor := &lane{devices: []string{device.CPU}}
	processor.quarantine(&schema.Run{RunID: "R", Status: schema.StatusUnkillable})
	valuetest.DeepEqual(t, processor.refused, "", "the processor is refused")
}

// TestMissingBeforeBusy: a session whose program does not exist says so also while another session measures, whether it would wait or not.
func TestMissingBeforeBusy(t *testing.T) {
	locks := t.TempDir()
	run := func(command string, wait bool) error {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second) // which a session that waits needs
		defer stop()
		_, err := Run(ctx, parse(t, "command: ["+command+"]\nbackend: cpu\nrepeats: 1\niterations: 1\n"), Options{Locks: locks, Wait: wait}, func(schema.Run) error { return nil })
		return err
	}
	held := valuetest.Must(device.Lock(t.Context(), locks, []string{"cpu"}, nil))
	defer held.Release()
	for _, wait := range []bool{false, true} {
		valuetest.Fails(t, run("./nosuch", wait), "./nosuch: no such file or directory; nothing was started")
	}
	if _, busy := errors.AsType[*device.BusyError](run("true", false)); !busy {
		t.Error("a session measures while another one does")
	}
}
