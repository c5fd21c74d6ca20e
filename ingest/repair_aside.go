package ingest

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"syscall"

	"github.com/neurolens/neurolens/schema"
)

// aside moves a file, or a directory that no store has, out of everybody's way. Where a link led to it on another file
// system it stays: to copy it would be to delete it there.
func (r *repairer) aside(name, reason string) error {
	if r.moved[name] || name == schema.HeaderFile {
		return nil
	}
	to := path.Join(QuarantineDir, name)
	for n := 1; isThere(r.files, to); n++ {
		to = path.Join(QuarantineDir, name) + "." + strconv.Itoa(n)
	}
	if !r.dryRun {
		if err := makeDirs(r.files, path.Dir(to)); err != nil {
			return err
		}
		err := r.files.rename(name, to)
		if errors.Is(err, syscall.EXDEV) {
			r.leave(name, reason+"; a link leads to it on another file system, from which it has to be moved by hand")
			return nil
		}
		if err != nil {
			return err
		}
		for _, dir := range []string{path.Dir(to), path.Dir(name)} {
			if err := syncDir(r.files, dir); err != nil {
				return err
			}
		}
	}
	r.moved[name] = true
	r.did(Repair{ActionAside, name, reason})
	return nil
}

// leave says that nothing is done about a file.
func (r *repairer) leave(name, reason string) {
	r.left++
	r.did(Repair{ActionLeave, name, reason})
}

// isFile tells whether there is something under a name that is no directory, nor a link to one.
func isFile(f fs.FS, name string) bool {
	info, err := fs.Stat(f, name)
	return err == nil && !info.IsDir()
}
