package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	ownerFile = "owner"                   // in each folder: locked while it is in use; the repositories that know of it
	lockFile  = ".lock"                   // beside the folders: held while one is made or judged
	newOwner  = ".owner"                  // beside the folders: the owner file of the one that is being made
	heading   = "neurolens worktrees 1\n" // what an owner file begins with: nothing else is ever removed
)

// patience is how long the removal of one folder may take git.
const patience = 2 * time.Minute

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

// add checks out a commit of r at a path in the folder. The repository is written down first, so that whoever finds
// the folder knows it.
func (f *folder) add(ctx context.Context, r repo, path, commit string) error {
	if _, err := f.owner.WriteString(strconv.Quote(r.common) + "\n"); err != nil {
		return err
	}
	if err := f.owner.Sync(); err != nil {
		return err
	}
	_, err := f.worktree(ctx, r.common, "add", "--detach", path, commit)
	return err
}

// worktree runs git worktree in the repository that keeps its files at common. The tree that a submodule's
// configuration names may be gone, so that another is named.
func (f *folder) worktree(ctx context.Context, common string, args ...string) (string, error) {
	args = append([]string{"--git-dir=" + common, "--work-tree=" + f.path, "worktree"}, args...)
	says, err := call{dir: f.path, held: f.owner}.run(ctx, args...)
	if refused, ok := errors.AsType[*refusal](err); ok {
		refused.command = "worktree " + args[3]
	}
	return says, err
}

// remove takes the sides away and what the repositories know of them, and lets go of the folder. After an
// error the folder is there and nobody's, for Clean to try again.
func (f *folder) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	defer f.owner.Close()
	about, err := os.ReadFile(filepath.Join(f.path, ownerFile))
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == ownerFile {
			continue
		}
		if err := removeAll(filepath.Join(f.path, entry.Name())); err != nil {
			return err
		}
	}
	for _, common := range repositories(string(about)) {
		if err := f.forget(ctx, common); err != nil {
			return err
		}
	}
	return os.RemoveAll(f.path)
}

// forget makes the repository at common forget the trees that were in the folder. git worktree prune would also
// forget those of others, such as on a disk that is not there at present.
func (f *folder) forget(ctx context.Context, common string) error {
	if _, err := os.Stat(common); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	says, err := f.worktree(ctx, common, "list", "--porcelain")
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(strings.NewReader(says))
	for lines.Scan() {
		path, ok := strings.CutPrefix(lines.Text(), "worktree ")
		if !ok || !strings.HasPrefix(path, f.path+string(filepath.Separator)) {
			continue
		}
		// Twice: also one that git was about to make, and locked.
		if _, err := f.worktree(ctx, common, "remove", "--force", "--force", path); err != nil {
			return err
		}
	}
	_ = os.Remove(filepath.Join(common, "worktrees")) // if it is empty: git leaves it when it is interrupted
	return lines.Err()
}

// repositories are those that an owner file names, the last first, each once. A line that was not finished names none:
// git was not started.
func repositories(about string) []string {
	var commons []string
	for entry := range strings.Lines(strings.TrimPrefix(about, heading)) {
		entry, ended := strings.CutSuffix(entry, "\n")
		common, err := strconv.Unquote(entry)
		if ended && err == nil && filepath.IsAbs(common) && !slices.Contains(commons, common) {
			commons = append(commons, common)
		}
	}
	slices.Reverse(commons)
	return commons
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
