package check

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"syscall"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
)

// aside moves a file, or a directory that does not belong to a store, into quarantine/. A file on another mounted disk
// stays where it is, because moving it would mean to copy it and to delete the original.
func (r *repairer) aside(name, reason string) error { return r.asideFor(name, reason, Loss{}) }

// asideFor is aside for a file whose repair loses data.
func (r *repairer) asideFor(name, reason string, loss Loss) error {
	if r.moved[name] {
		return nil
	}
	if !r.dryRun {
		if err := r.recordAbsent(loss); err != nil {
			return err
		}
		to, err := r.asideName(name)
		if err != nil {
			return err
		}
		if err := disk.MakeDirs(r.files, path.Dir(to)); err != nil {
			return err
		}
		err = r.files.Rename(name, to)
		if errors.Is(err, syscall.EXDEV) {
			r.leave(name, reason+acrossText)
			return nil
		}
		if err != nil {
			return err
		}
		for _, dir := range []string{path.Dir(to), path.Dir(name)} {
			if err := disk.SyncDir(r.files, dir); err != nil {
				return err
			}
		}
	}
	r.moved[name] = true
	r.done.Loss.Add(loss)
	r.did(Repair{Action: ActionAside, Path: name, Reason: reason, Loss: loss})
	return nil
}

// asideName is an unused name in quarantine/ for a file.
func (r *repairer) asideName(name string) (string, error) {
	to := path.Join(disk.QuarantineDir, name)
	for n := 1; ; n++ {
		if taken, err := disk.Exists(r.files, to); err != nil || !taken {
			return to, err
		}
		to = path.Join(disk.QuarantineDir, name) + "." + strconv.Itoa(n)
	}
}

// acrossText explains why a file is not moved.
const acrossText = "; move it by hand, because quarantine/ is on another file system"

// leave reports that nothing is done about a file.
func (r *repairer) leave(name, reason string) {
	r.done.Left++
	r.did(Repair{Action: ActionLeave, Path: name, Reason: reason})
}

// isFile reports whether a name exists and is not a directory or a link to one.
func isFile(f fs.FS, name string) bool {
	info, err := fs.Stat(f, name)
	return err == nil && !info.IsDir()
}

// recordAbsent says before runs are lost that these may be removed ones, if there are any.
func (r *repairer) recordAbsent(loss Loss) error {
	if loss.Runs == 0 || r.absent {
		return nil
	}
	r.absent = true
	if _, removes := runfile.MayLackRemoved(r.files); !removes {
		return nil
	}
	return runfile.WriteAbsentEvent(r.files)
}
