package tune

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// change is a value of the machine that is replaced for a while.
type change struct {
	Setting string `json:"setting"`
	// Target is a file below the root of the tree, or gpu/N/clock and gpu/N/power, which nvidia-smi sets.
	Target string `json:"target"`
	Was    string `json:"was"` // empty: the driver does not tell; it is reset
	Set    string `json:"set"`
}

// tree is the root of a file tree with proc and sys: "/", or a folder of a test.
type tree string

const (
	cpuTree  = "sys/devices/system/cpu"
	gpuTree  = "gpu/"
	gpuClock = "/clock"
	gpuPower = "/power"
)

// plan returns what has to be changed for a wish. No change and no error: it is so already.
func (t tree) plan(w Wish) ([]change, error) {
	switch w.Name {
	case Governor:
		return t.files(w, w.Value, cpuTree+"/cpufreq/policy*/scaling_governor")
	case Turbo:
		changes, err := t.files(w, "1", cpuTree+"/intel_pstate/no_turbo")
		if errors.Is(err, fs.ErrNotExist) {
			return t.files(w, "0", cpuTree+"/cpufreq/boost")
		}
		return changes, err
	case SMT:
		changes, err := t.files(w, w.Value, cpuTree+"/smt/control")
		if len(changes) == 1 && strings.HasPrefix(changes[0].Was, "not") { // notsupported, notimplemented
			return nil, nil
		}
		return changes, err
	case IRQ:
		return t.files(w, w.Value, "proc/irq/[0-9]*/smp_affinity_list")
	case GPUClock, GPUPower:
		return t.gpus(w)
	}
	return nil, fmt.Errorf("%s is not a setting of the machine", w.Name)
}

// files plans the change of each file that matches a pattern, where its value is another one.
func (t tree) files(w Wish, value, pattern string) (changes []change, err error) {
	paths, err := filepath.Glob(filepath.Join(string(t), pattern))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("%s: %w", pattern, fs.ErrNotExist)
	}
	for _, path := range paths {
		target, err := filepath.Rel(string(t), path)
		if err != nil {
			return nil, err
		}
		was, err := t.read(target)
		switch {
		case errors.Is(err, unix.EIO): // of an interrupt that cannot be moved, or a processor that is off
			continue
		case err != nil:
			return nil, err
		case was == value:
			continue
		}
		if err := unix.Access(path, unix.W_OK); err != nil {
			return nil, err
		}
		changes = append(changes, change{w.Name, target, was, value})
	}
	return changes, nil
}

// gpus plans the change of each GPU of NVIDIA.
func (t tree) gpus(w Wish) (changes []change, err error) {
	if os.Geteuid() != 0 {
		return nil, unix.EPERM
	}
	listed, err := smi("--query-gpu=index", "--format=csv,noheader")
	if err != nil {
		return nil, err
	}
	for index := range strings.FieldsSeq(listed) {
		c := change{w.Name, gpuTree + index + gpuPower, "", w.Value}
		if w.Name == GPUClock {
			c.Target = gpuTree + index + gpuClock
		} else if c.Was, err = t.read(c.Target); err != nil {
			return nil, err
		} else if c.Was == c.Set {
			continue
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// smi calls nvidia-smi. Its error has the first line that it printed.
func smi(args ...string) (string, error) {
	out, err := exec.Command("nvidia-smi", args...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("nvidia-smi: %w", fs.ErrNotExist)
	}
	if err != nil {
		line, _, _ := strings.Cut(text, "\n")
		return "", fmt.Errorf("nvidia-smi %s: %w: %s", strings.Join(args, " "), err, line)
	}
	return text, nil
}

// gpuOf splits a target of a GPU.
func gpuOf(target string) (index, what string, is bool) {
	rest, is := strings.CutPrefix(target, gpuTree)
	index, what, _ = strings.Cut(rest, "/")
	return index, "/" + what, is
}

// read returns the value of a target; empty of a clock of a GPU, which the driver does not tell.
func (t tree) read(target string) (string, error) {
	index, what, gpu := gpuOf(target)
	switch {
	case !gpu:
		text, err := os.ReadFile(filepath.Join(string(t), target))
		return strings.TrimSpace(string(text)), err
	case what == gpuPower:
		watts, err := smi("-i", index, "--query-gpu=power.limit", "--format=csv,noheader,nounits")
		if whole, rest, fraction := strings.Cut(watts, "."); fraction && strings.Trim(rest, "0") == "" {
			watts = whole // as users write it: 250.00 is 250
		}
		return watts, err
	}
	return "", nil
}

// write sets the value of a target. An empty value resets it.
func (t tree) write(target, value string) error {
	index, what, gpu := gpuOf(target)
	var err error
	switch {
	case !gpu: // a file of a test has to be cut; for one of the kernel that means nothing
		var f *os.File
		if f, err = os.OpenFile(filepath.Join(string(t), target), os.O_WRONLY|os.O_TRUNC, 0); err != nil {
			return err
		}
		_, err = f.WriteString(value)
		return errors.Join(err, f.Close())
	case what == gpuPower:
		_, err = smi("-i", index, "-pl", value)
	case value == "":
		_, err = smi("-i", index, "-rgc")
	default:
		_, err = smi("-i", index, "-lgc", value+","+value)
	}
	return err
}

// apply makes a change: it writes, reads back, and writes the old value where something else was read.
func (t tree) apply(c change) error {
	if err := t.write(c.Target, c.Set); err != nil {
		return err
	}
	now, err := t.read(c.Target)
	if err != nil {
		return err
	}
	if _, what, gpu := gpuOf(c.Target); now == c.Set || gpu && what == gpuClock {
		return nil
	}
	if err := t.write(c.Target, c.Was); err != nil {
		return fmt.Errorf("%s reads %q after %q was written, and cannot be set back: %w", c.Target, now, c.Set, err)
	}
	return fmt.Errorf("%w: %s reads %q after %q was written", errors.ErrUnsupported, c.Target, now, c.Set)
}

// undone is how changes were taken back.
type undone struct {
	count  int      // values that were written
	kept   []string // sentences about values that somebody else has changed, which stay
	failed []change // that could not be taken back, with err as the reason
	err    error
}

// undo takes changes back, the last one first.
func (t tree) undo(changes []change) (u undone) {
	for _, c := range slices.Backward(changes) {
		now, readErr := t.read(c.Target)
		switch {
		case errors.Is(readErr, fs.ErrNotExist), errors.Is(readErr, unix.EIO):
			continue // of a processor that smt has switched off: it comes back with its own value
		case readErr == nil && now == c.Was && c.Was != "":
			continue // it was never written
		case readErr == nil && now != c.Set && c.Was != "":
			u.kept = append(u.kept, fmt.Sprintf("%s is now %q, which somebody else set: it stays, and is not set back to %q", c.Target, now, c.Was))
			continue
		}
		err := readErr
		if err == nil {
			err = t.write(c.Target, c.Was)
		}
		if err == nil && c.Was != "" {
			if now, err = t.read(c.Target); err == nil && now != c.Was {
				err = fmt.Errorf("it reads %q", now)
			}
		}
		if err != nil {
			u.failed = append([]change{c}, u.failed...)
			u.err = errors.Join(u.err, fmt.Errorf("setting %s back to %q: %w", c.Target, c.Was, err))
			continue
		}
		u.count++
	}
	return u
}

// reason returns why a setting cannot be held.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		return "permission: needs root"
	case errors.Is(err, fs.ErrNotExist):
		return "absent"
	}
	text := err.Error()
	if errno, is := errors.AsType[syscall.Errno](err); is {
		text = errno.Error()
	}
	return "unsupported: " + strings.TrimPrefix(text, errors.ErrUnsupported.Error()+": ")
}
