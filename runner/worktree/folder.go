package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	ownerFile = "owner"                   // in each folder: locked while it is in use
	lockFile  = ".lock"                   // beside the folders: held while one is made or judged
	newOwner  = ".owner"                  // beside the folders: the owner file of the one that is being made
	heading   = "neurolens worktrees 1\n" // what an owner file begins with: nothing else is ever removed
)

// folder holds the two sides of one session. It belongs to whoever has the lock on its owner file, which git and what
// git starts inherit: a folder that git still writes into is in use, even when this process is dead.
type folder struct {
	path  string
	owner *os.File
}

// sidesFolder is the folder with the sides of all sessions: root, else one in the user's cache. It need not exist.
func sidesFolder(root string) (string, error) {
	if root != "" {
		return filepath.Abs(root)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a folder for the two sides: %w", err)
	}
	return filepath.Join(cache, "neurolens", "worktrees"), nil
}

// lock opens the file at path and locks it; with unix.LOCK_NB it does not wait.
func lock(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|how)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, unix.EINTR) {
			file.Close()
			return nil, &fs.PathError{Op: "locking", Path: path, Err: err}
		}
	}
}

// newFolder makes the folder of a session in root and owns it.
func newFolder(root, session string) (*folder, error) {
	if session == "" || filepath.Base(session) != session || strings.HasPrefix(session, ".") {
		return nil, fmt.Errorf("making a folder for the two sides: %q is not a file name", session)
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for the two sides: %w", err)
	}
	root, err := filepath.EvalSymlinks(root) // as git will call it
	if err != nil {
		return nil, err
	}
	guard, err := lock(filepath.Join(root, lockFile), 0)
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	f := &folder{path: filepath.Join(root, session)}
	if err := os.Mkdir(f.path, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for the two sides: %w", err)
	}
	if f.owner, err = own(root, f.path); err != nil {
		return nil, errors.Join(err, os.RemoveAll(f.path))
	}
	return f, nil
}

// own puts a locked owner file into the folder at path. The caller has the guard of root. The file comes whole: a
// process that is killed here must not leave one that nobody can tell from another program's, and that stays for good.
func own(root, path string) (owner *os.File, err error) {
	name := filepath.Join(root, newOwner)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if owner, err = lock(name, unix.LOCK_NB); err != nil {
		return nil, err
	}
	if _, err = owner.WriteString(heading); err == nil {
		err = owner.Sync()
	}
	if err == nil {
		err = os.Rename(name, filepath.Join(path, ownerFile))
	}
	if err != nil {
		owner.Close()
		return nil, errors.Join(err, os.Remove(name))
	}
	return owner, nil
}

// objects is the folder of the objects of the snapshot of the user's working tree. It exists only where one was taken.
func (f *folder) objects() string { return filepath.Join(f.scratch(), objectsFolder) }

// scratch is the folder of a snapshot, which lasts as long as the sides: the head has its objects from there.
func (f *folder) scratch() string { return filepath.Join(f.path, "scratch") }

// remove takes the sides away, and lets go of the folder. After an error the folder is there and nobody's, for Clean to try again.
func (f *folder) remove() error {
	defer f.owner.Close()
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == ownerFile { // removed last: Clean ignores a folder without this file
			continue
		}
		if err := removeAll(filepath.Join(f.path, entry.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(f.path)
}

// removeAll removes path and what is below it, also from folders that were made read-only. It follows no link.
func removeAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) // before it is read; what fails shows when it is removed
		}
		return nil
	})
	return os.RemoveAll(path)
}

// Clean removes the sides in root (see Options) whose process is dead, and returns how many. It leaves what belongs to a living process, or
// was not created by a session. The error names what could not be removed; the next call tries again.
func Clean(ctx context.Context, root string) (removed int, err error) {
	root, err = sidesFolder(root)
	if err != nil {
		return 0, nil // then there was no place for them
	}
	if root, err = filepath.EvalSymlinks(root); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	left, err := abandoned(root)
	problems := []error{err}
	for _, f := range left {
		if ctx.Err() != nil {
			f.owner.Close()
			problems = append(problems, ctx.Err())
			continue
		}
		if err := f.remove(); err != nil {
			problems = append(problems, fmt.Errorf("removing files of an ended session in %q: %w", f.path, err))
			continue
		}
		removed++
	}
	return removed, errors.Join(problems...)
}

// abandoned are the folders in root that nobody owns, and which are owned by the caller now.
func abandoned(root string) ([]*folder, error) {
	guard, err := lock(filepath.Join(root, lockFile), 0)
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	_ = os.Remove(filepath.Join(root, newOwner)) // of who was killed: nobody else makes one now
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var left []*folder
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		path := filepath.Join(root, entry.Name())
		name := filepath.Join(path, ownerFile)
		if _, err := os.Lstat(name); err != nil {
			_ = os.Remove(path) // one that was only just made is empty; another is not ours
			continue
		}
		owner, err := lock(name, unix.LOCK_NB)
		if err != nil {
			continue // its owner lives
		}
		if !ours(owner, name) {
			owner.Close()
			continue
		}
		left = append(left, &folder{path: path, owner: owner})
	}
	return left, nil
}

// ours reports whether the file is an owner file that is still there: who removed the folder may have held it until
// just now.
func ours(owner *os.File, name string) bool {
	about, err := os.ReadFile(name)
	if err != nil || !strings.HasPrefix(string(about), heading) {
		return false
	}
	is, err := owner.Stat()
	if err != nil {
		return false
	}
	want, err := os.Lstat(name)
	return err == nil && os.SameFile(is, want)
}
