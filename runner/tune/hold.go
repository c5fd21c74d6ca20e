package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// restoreFile is below the root of the tree. Its folder belongs to root, and is empty after a start of the machine, as the settings are.
const restoreFile = "run/neurolens/tune.json"

// roleGuard is the argument that makes this program a guard; the root of the tree follows.
const roleGuard = "__tune-guard"

// The descriptors that a guard begins with.
const (
	fdLife    = 3 // the pipe whose end is the order to restore
	fdRestore = 4 // the restore file, locked
)

// guardReady is the line that a guard prints when it guards.
const guardReady = "ready\n"

// Root is the tree of this system.
const Root = "/"

// BusyError means that another process holds the machine.
type BusyError struct{ Path string }

// Error names the file that is locked.
func (e *BusyError) Error() string {
	return fmt.Sprintf("another bench --tune or tune holds this machine (%s is locked)", e.Path)
}

// Held are the settings of the machine that this process holds.
type Held struct {
	Results []Result // of the wishes that are settings of the machine, in their order
	// Restored are sentences about values that an earlier holder had left, and that were restored before.
	Restored []string

	tree  tree
	file  *os.File // nil: nothing is held
	life  *os.File // its close is the order to the guard
	guard *exec.Cmd
	said  io.ReadCloser // what the guard says
}

// Hold holds the machine: the settings among the wishes that are not of processes. root is the tree with proc, sys and run. step is
// called before each action of the order that the package comment describes, for tests; nil: no one is. The error is a *BusyError
// if another process holds the machine. Settings that cannot be held are no error.
func Hold(root string, wishes []Wish, step func(string)) (*Held, error) {
	if step == nil {
		step = func(string) {}
	}
	h := &Held{tree: tree(root)}
	var changes []change
	why := map[string]string{}
	step("begin")
	for _, w := range wishes {
		if isOfProcess(w.Name) {
			continue
		}
		h.Results = append(h.Results, Result{Name: w.Name, Value: w.Value})
	}
	if len(h.Results) == 0 {
		return h, nil
	}
	left, err := h.lock()
	if err != nil {
		return nil, err
	}
	if left != nil {
		step("restore")
		u := h.tree.undo(left)
		h.Restored = append(u.kept, fmt.Sprintf("restored %d values that an interrupted tune had left", u.count))
		if u.err != nil {
			return nil, errors.Join(u.err, h.write(u.failed), h.file.Close())
		}
	}
	for _, r := range h.Results {
		planned, err := h.tree.plan(Wish{r.Name, r.Value})
		if err == nil && len(planned) > 0 && h.file == nil {
			err = os.ErrPermission // of the restore file
		}
		if err != nil {
			why[r.Name] = reason(err)
			continue
		}
		changes = append(changes, planned...)
	}
	if len(changes) > 0 {
		if err := h.change(changes, why, step); err != nil {
			return nil, errors.Join(err, h.Release().err)
		}
	} else if h.file != nil {
		_ = h.write(nil)
		h.file, _ = nil, h.file.Close()
	}
	for i := range h.Results {
		if r := &h.Results[i]; why[r.Name] != "" {
			r.Value, r.Missing = "", why[r.Name]
		}
	}
	return h, nil
}

// isOfProcess reports whether a setting is one of each process.
func isOfProcess(name string) bool { return name == ASLR || name == Nice || name == Affinity }

// Outlook is what holding a setting would do here.
type Outlook struct {
	Name    string
	Now     string // the values that would be replaced, separated by spaces; empty: none would be, or they are of each process
	Value   string // that would be set; empty: it needs one, which Wants describes
	Wants   string
	Missing string // why it cannot be held: as in Result
	Gains   string // what holding it brings
	// OfMachine settings are no settings of each process.
	OfMachine bool
}

// Look returns what holding each setting would do. It writes nothing.
func Look(root string) (all []Outlook) {
	for _, s := range settings {
		o := Outlook{Name: s.name, Value: s.value, Wants: s.wants, Gains: s.gains, OfMachine: !isOfProcess(s.name)}
		if s.value != "" && o.OfMachine {
			changes, err := tree(root).plan(Wish{s.name, s.value})
			if err != nil {
				o.Missing = reason(err)
			}
			var now []string
			for _, c := range changes {
				now = append(now, c.Was)
			}
			slices.Sort(now)
			o.Now = strings.Join(slices.Compact(now), " ")
		}
		all = append(all, o)
	}
	return all
}

// lock opens and locks the restore file, and returns what an earlier holder has left in it. Without permission there is no file, and no
// setting that could be written.
func (h *Held) lock() (left []change, err error) {
	path := filepath.Join(string(h.tree), restoreFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, withoutPermission(err)
	}
	if h.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, withoutPermission(err)
	}
	if err := unix.Flock(int(h.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = h.file.Close()
		return nil, &BusyError{path}
	}
	return readChanges(h.file)
}

func withoutPermission(err error) error {
	if errors.Is(err, os.ErrPermission) {
		return nil
	}
	return fmt.Errorf("opening the restore file: %w", err)
}

// readChanges reads a restore file. One that was not written completely is as none: no value is written before it is.
func readChanges(f *os.File) ([]change, error) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<24))
	if err != nil {
		return nil, fmt.Errorf("reading the restore file: %w", err)
	}
	var changes []change
	if json.Unmarshal(text, &changes) != nil {
		return nil, nil
	}
	for _, c := range changes {
		if !filepath.IsLocal(c.Target) {
			return nil, fmt.Errorf("reading %s: target %q: want a path below the root", f.Name(), c.Target)
		}
	}
	return changes, nil
}

// write writes the restore file, and syncs it and its folder.
func (h *Held) write(changes []change) error { return writeChanges(h.file, changes) }

func writeChanges(f *os.File, changes []change) error {
	var text []byte
	if len(changes) > 0 {
		var err error
		if text, err = json.MarshalIndent(changes, "", " "); err != nil {
			return err
		}
	}
	err := f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("writing the restore file: %w", err)
	}
	return nil
}

// change makes changes under a guard, and adds to why the reasons of settings that cannot be held.
func (h *Held) change(changes []change, why map[string]string, step func(string)) error {
	step("record")
	if err := h.write(changes); err != nil {
		return err
	}
	step("guard")
	if err := h.startGuard(); err != nil {
		return err
	}
	tried, made := map[string]int{}, map[string]int{}
	for _, c := range changes {
		step("write " + c.Target)
		tried[c.Setting]++
		err := h.tree.apply(c)
		switch {
		case err == nil:
			made[c.Setting]++
		case c.Setting == IRQ && (errors.Is(err, unix.EIO) || errors.Is(err, unix.EPERM)), errors.Is(err, os.ErrNotExist):
			tried[c.Setting]-- // an interrupt that cannot be moved, for which some kernels refuse root; a processor that smt has switched off
		default:
			why[c.Setting] = reason(err)
		}
	}
	for setting := range tried {
		if made[setting] == 0 && why[setting] == "" {
			why[setting] = "unsupported: no value could be changed"
		}
	}
	step("held")
	return nil
}

// startGuard starts the guard, and returns when it guards.
func (h *Held) startGuard() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("starting the guard: %w", err)
	}
	end, life, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("starting the guard: %w", err)
	}
	defer end.Close()
	h.life = life
	h.guard = exec.Command(self, roleGuard, string(h.tree))
	h.guard.ExtraFiles = []*os.File{end, h.file}
	h.guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if h.said, err = h.guard.StdoutPipe(); err != nil {
		return fmt.Errorf("starting the guard: %w", err)
	}
	if err := h.guard.Start(); err != nil {
		h.guard = nil
		return fmt.Errorf("starting the guard: %w", err)
	}
	ready := make([]byte, len(guardReady))
	if _, err := io.ReadFull(h.said, ready); err != nil || string(ready) != guardReady {
		return fmt.Errorf("starting the guard: it said %q", ready)
	}
	return nil
}

// Released is how the settings were given up.
type Released struct {
	Count int      // values that were written back by this process
	Kept  []string // sentences about values that somebody else has changed, which stay
	err   error
}

// Err is what could not be restored.
func (r Released) Err() error { return r.err }

// Release restores the machine. The guard does it, or this process if the guard is gone.
func (h *Held) Release() (r Released) {
	if h == nil || h.file == nil {
		return r
	}
	defer func() {
		_ = h.file.Close()
		h.file = nil
	}()
	if h.guard != nil {
		_ = h.life.Close()
		said, _ := io.ReadAll(h.said)
		if err := h.guard.Wait(); err == nil {
			return parseReleased(said)
		}
	}
	changes, err := readChanges(h.file)
	if err != nil {
		return Released{err: err}
	}
	return restore(h.tree, h.file, changes)
}

// restore takes the changes of a restore file back, and leaves those in it that could not be.
func restore(t tree, f *os.File, changes []change) (r Released) {
	u := t.undo(changes)
	return Released{Count: u.count, Kept: u.kept, err: errors.Join(u.err, writeChanges(f, u.failed))}
}

// Restore restores what a holder has left that was killed together with its guard. The error is a *BusyError if a holder lives.
func Restore(root string) (r Released, err error) {
	h := &Held{tree: tree(root)}
	left, err := h.lock()
	if err != nil || h.file == nil {
		return r, err
	}
	defer h.file.Close()
	if len(left) > 0 {
		r = restore(h.tree, h.file, left)
	}
	return r, r.err
}

// Main performs the role of the guard if argv (the program first) names it; handled is false if it does not. code is the exit status.
func Main(argv []string) (code int, handled bool) {
	if len(argv) != 3 || argv[1] != roleGuard {
		return 0, false
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	syscall.CloseOnExec(fdLife)
	syscall.CloseOnExec(fdRestore)
	file := os.NewFile(fdRestore, restoreFile)
	if _, err := os.Stdout.WriteString(guardReady); err != nil {
		return 1, true
	}
	_, _ = io.Copy(io.Discard, os.NewFile(fdLife, "life")) // until whoever holds the machine releases it, or is gone
	changes, err := readChanges(file)
	if err != nil {
		return 1, true
	}
	r := restore(tree(argv[2]), file, changes)
	for _, line := range r.Kept {
		fmt.Println(line)
	}
	if r.err != nil {
		fmt.Println(failurePrefix + strings.ReplaceAll(r.err.Error(), "\n", "; "))
	}
	return 0, true
}

// failurePrefix begins the line of a guard about what it could not restore.
const failurePrefix = "failed: "

// parseReleased reads what a guard said.
func parseReleased(said []byte) (r Released) {
	for line := range bytes.Lines(said) {
		text := strings.TrimSuffix(string(line), "\n")
		if failed, is := strings.CutPrefix(text, failurePrefix); is {
			r.err = errors.New(failed)
			continue
		}
		r.Kept = append(r.Kept, text)
	}
	return r
}
