package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// prefix is the prefix of the names of all directories.
const prefix = "neurolens-tmp-"

// attempts is how often it tries to make a directory, because another process may remove it before it is locked.
const attempts = 10

// ScratchDir is a directory for temporary files, readable only by its owner.
type ScratchDir struct {
	Path string   // absolute
	Lock *os.File // open as long as the directory is in use, also by child processes
}

// newDir makes a directory in a parent directory.
func newDir() (*ScratchDir, error) {
	parent, err := filepath.Abs(os.TempDir())
	if err != nil {
		return nil, err
	}
	for range attempts {
		path, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			return nil, err
		}
		lock, ours, err := claim(path)
		if err != nil {
			return nil, errors.Join(err, os.Remove(path))
		}
		if ours {
			return &ScratchDir{path, lock}, nil
		}
	}
	return nil, fmt.Errorf("making a directory in %s: it keeps being removed", parent)
}

// claim locks a directory that was just made. It fails if another process was faster and removed it.
func claim(path string) (lock *os.File, ours bool, err error) {
	lock, err = os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if held(lock) { // by a sweeper
		return nil, false, lock.Close()
	}
	opened, err := lock.Stat()
	if err != nil {
		return nil, false, errors.Join(err, lock.Close())
	}
	there, err := os.Lstat(path)
	if err != nil || !os.SameFile(opened, there) {
		return nil, false, lock.Close()
	}
	return lock, true, nil
}

// held tries to lock a file, and reports whether another process has the lock. On a file system without locks nothing is ever removed by
// other processes.
func held(f *os.File) bool {
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// Remove removes the directory with its contents. It may be called again.
func (d *ScratchDir) Remove() error {
	err := RemoveScratch(d.Path)
	_ = d.Lock.Close() // it is read only
	return err
}

// SweepScratchInBackground runs SweepScratch in a goroutine. A later process removes directories that it cannot remove.
func SweepScratchInBackground() (done <-chan struct{}) {
	end := make(chan struct{})
	go func() {
		defer close(end)
		_ = SweepScratch()
	}()
	return end
}

// RemoveScratch removes a directory with its contents. It is renamed first, so that this works while files are being created in it.
func RemoveScratch(path string) error {
	err := os.Remove(path)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if away := path + "-"; os.Rename(path, away) == nil {
		path = away
	}
	return os.RemoveAll(path)
}

// SweepScratch removes the directories of this user whose processes are gone.
func SweepScratch() error {
	parent := os.TempDir()
	dir, err := os.Open(parent)
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	err = errors.Join(err, dir.Close())
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			err = errors.Join(err, sweep(filepath.Join(parent, name)))
		}
	}
	return err
}

// sweep removes one directory if it belongs to this user and is not locked.
func sweep(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return nil // another process was faster, or it is not ours
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil
	}
	return RemoveScratch(path)
}
