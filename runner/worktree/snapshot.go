package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// bulky is the minimum size of a new file that is not read to detect changes.
	bulky = 64 << 20

	// maxNewFiles is how many bytes of new files may become part of a commit.
	maxNewFiles = 1 << 30

	objectsFolder = "objects" // in the folder of a snapshot, for all its repositories
)

// snapshot is how the content of working trees becomes git objects, without the user's index.
type snapshot struct {
	scratch string   // a folder for indexes and objects
	exclude []string // absolute paths
	keep    bool     // the objects are complete; else they are only for the hash
	taken   int      // number of repositories so far: submodules are separate
	root    string   // root of the first one
	marks   []string // markers for the bulky files that were not read

	unimportant []string // absolute paths of files whose content does not matter
	printed     []string // absolute paths of new files into which this process prints
}

// take returns the state of r's working tree and the commit that holds its files: HEAD, if it has the same files. Submodules are part of
// it with the files in their working trees.
func (s *snapshot) take(ctx context.Context, r repo) (Code, string, error) {
	if s.taken++; s.taken == 1 {
		s.root = r.top
	}
	scratch := filepath.Join(s.scratch, strconv.Itoa(s.taken))
	in, err := s.begin(r, scratch)
	if err != nil {
		return Code{}, "", err
	}
	var code Code
	if code.Commit, err = r.commit(ctx, "HEAD"); err != nil {
		return Code{}, "", err
	}
	if code.Branch, err = r.branch(ctx, "HEAD"); err != nil {
		return Code{}, "", err
	}
	if err := s.fill(ctx, r, in); err != nil {
		return Code{}, "", err
	}
	if code.Tree, err = line(in.run(ctx, "write-tree", "--missing-ok")); err != nil {
		return Code{}, "", err
	}
	var was string
	if code.Commit != "" {
		if was, err = r.tree(ctx, code.Commit); err != nil {
			return Code{}, "", err
		}
	}
	commit := code.Commit
	if r.top == s.root && was != "" {
		if code.Changed, code.Dirty, err = s.changed(ctx, r, in, code.Commit); err != nil {
			return Code{}, "", err
		}
	} else {
		code.Dirty = code.Tree != was
	}
	if code.Tree != was {
		if commit, err = commitTree(ctx, in, code); err != nil {
			return Code{}, "", err
		}
	}
	return code, commit, nil
}

// begin prepares a copy of r's index, whose cached file states save reading the files again.
func (s *snapshot) begin(r repo, scratch string) (call, error) {
	objects := filepath.Join(s.scratch, objectsFolder)
	for _, dir := range []string{scratch, objects} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return call{}, err
		}
	}
	from, to := filepath.Join(r.dir, "index"), filepath.Join(scratch, "index")
	if index, err := os.ReadFile(from); err == nil {
		info, err := os.Stat(from)
		if err != nil {
			return call{}, err
		}
		if err := os.WriteFile(to, index, 0o600); err != nil {
			return call{}, err
		}
		// git compares the time of the index with the times of files to detect changes that they do not show.
		if err := os.Chtimes(to, info.ModTime(), info.ModTime()); err != nil {
			return call{}, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return call{}, err
	}
	return call{dir: r.top, held: r.held, env: []string{
		"GIT_INDEX_FILE=" + to, "GIT_OBJECT_DIRECTORY=" + objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoted(filepath.Join(r.common, "objects")),
		// Git LFS searches next to the objects of a repository that another borrows from for files of the borrowing one.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=lfs.storage", "GIT_CONFIG_VALUE_0=" + filepath.Join(s.scratch, "lfs"),
	}}, nil
}

// fill brings the index of in up to the files of r's working tree.
func (s *snapshot) fill(ctx context.Context, r repo, in call) error {
	excluded, err := s.excluded(ctx, r, in)
	if err != nil {
		return err
	}
	update := []string{"add", "--update", "--", "."}
	for _, path := range excluded {
		update = append(update, ":(top,exclude,literal)"+path)
	}
	if _, err := in.run(ctx, update...); err != nil {
		return err
	}
	// Not add --all, which fails for an excluded path that is ignored as well.
	others, err := in.run(ctx, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	paths := slices.DeleteFunc(fields(others), func(path string) bool {
		return slices.ContainsFunc(excluded, func(out string) bool { return strings.HasPrefix(path+"/", out+"/") })
	})
	files, nested, err := s.sort(r, paths)
	if err != nil {
		return err
	}
	add := []string{"update-index", "-z", "--add"}
	if !s.keep {
		add = append(add, "--info-only")
	}
	in.stdin = []byte(strings.Join(files, "\x00"))
	if _, err := in.run(ctx, append(add, "--stdin")...); err != nil {
		return err
	}
	return s.fillNested(ctx, r, in, nested)
}

// sort separates files from repositories among the untracked paths, and adds markers for files that are too large to be read for a hash.
func (s *snapshot) sort(r repo, paths []string) (files, nested []string, err error) {
	var size int64
	outputs := OpenOutputs()
	for _, path := range paths {
		if repository, ok := strings.CutSuffix(path, "/"); ok {
			nested = append(nested, repository)
			continue
		}
		info, err := os.Lstat(filepath.Join(r.top, filepath.FromSlash(path)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is gone again
		}
		if err != nil {
			return nil, nil, err
		}
		if outputs.Has(info) {
			s.printed = append(s.printed, filepath.Join(r.top, filepath.FromSlash(path)))
			continue
		}
		if !s.keep && info.Size() >= bulky {
			rel, err := filepath.Rel(s.root, filepath.Join(r.top, filepath.FromSlash(path)))
			if err != nil {
				return nil, nil, err
			}
			s.marks = append(s.marks, fmt.Sprintf("%s\x00%d.%d\n", rel, info.Size(), info.ModTime().UnixNano()))
			continue
		}
		if size += info.Size(); s.keep && size > maxNewFiles {
			return nil, nil, fmt.Errorf("with %q, new files take more than %d MiB: commit, ignore or remove files that are not code", path, maxNewFiles>>20)
		}
		files = append(files, path)
	}
	return files, nested, nil
}

// fillNested adds the commits of submodules and of other repositories in the tree to the index of in.
func (s *snapshot) fillNested(ctx context.Context, r repo, in call, others []string) error {
	in.stdin = nil
	known, err := gitlinks(ctx, in)
	if err != nil {
		return err
	}
	var entries strings.Builder
	for _, path := range append(slices.Sorted(maps.Keys(known)), others...) {
		sub, ok, err := r.nested(ctx, path)
		if err != nil {
			return err
		}
		if !ok {
			continue // not checked out: the entry of the index stays
		}
		code, commit, err := s.take(ctx, sub)
		if err != nil {
			return fmt.Errorf("%q: %w", path, err)
		}
		if code.Commit == "" {
			return fmt.Errorf("the repository in %q has no commit yet", path)
		}
		if commit != known[path] {
			fmt.Fprintf(&entries, "160000 %s\t%s\x00", commit, path)
		}
	}
	in.stdin = []byte(entries.String())
	_, err = in.run(ctx, "update-index", "-z", "--index-info")
	return err
}

// changed returns Code.Changed and Code.Dirty for the files in the index of in.
func (s *snapshot) changed(ctx context.Context, r repo, in call, commit string) (text string, dirty bool, err error) {
	says, err := in.run(ctx, "diff-index", "--cached", "--ignore-submodules=none", "--raw", "--no-renames", "--no-abbrev", "-z", commit)
	if err != nil {
		return "", false, err
	}
	states := map[string]string{}
	outputs, parts := OpenOutputs(), fields(says)
	for i := 0; i+1 < len(parts); i += 2 { // :MODE MODE HASH HASH STATUS, and the path
		raw, path := strings.Fields(parts[i]), filepath.Join(r.top, filepath.FromSlash(parts[i+1]))
		if len(raw) < 5 {
			return "", false, fmt.Errorf("git diff-index: %q", parts[i])
		}
		states[path] = raw[1] + ":" + raw[3]
		if raw[4] == "A" {
			states[path] = newState(raw[1], raw[3])
		} else {
			dirty = true
		}
		marks := ownMarks[:1]
		if raw[4] == "A" { // a committed report may be what is measured
			marks = ownMarks
		}
		if info, err := os.Lstat(path); err == nil && (outputs.Has(info) || info.Mode().IsRegular() && isMarked(path, marks)) {
			states[path] = Unimportant
		}
	}
	for _, mark := range s.marks { // of new files
		rel, state, _ := strings.Cut(mark, "\x00")
		states[filepath.Join(r.top, rel)] = New + strings.TrimSpace(state)
	}
	for _, path := range s.printed {
		states[path] = Unimportant
	}
	for _, path := range s.unimportant {
		for _, path := range []string{real(path), filepath.Join(real(filepath.Dir(path)), filepath.Base(path))} { // it may be a link
			if _, known := states[path]; known {
				states[path] = Unimportant
			}
		}
	}
	var lines []string
	for path, state := range states {
		if rel, err := filepath.Rel(r.top, path); err == nil && filepath.IsLocal(rel) {
			lines = append(lines, state+" "+printable(filepath.ToSlash(rel)))
			dirty = dirty || state != Unimportant && !IsLog(rel) && !IsDocumentation(rel)
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(pathOf(a), pathOf(b)) })
	return strings.Join(lines, "\n"), dirty, nil
}

// newState returns the state of a file that the commit lacks.
func newState(mode, hash string) string {
	if slices.Contains(emptyBlobs, hash) {
		return New
	}
	return New + mode + ":" + hash
}

// emptyBlobs are the hashes of a file without content, in a repository of SHA-1 and in one of SHA-256.
var emptyBlobs = []string{"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"}

// ownMarks are texts in the first 4 KiB of files that NeuroLens writes: scripts, reports as HTML, JSON and Markdown, charts.
var ownMarks = []string{LauncherMark, `<meta name="generator" content="neurolens">`, `"format": "neurolens-report"`, "· all dates are in UTC\n", ` class="nl-fig `}

// isMarked reports whether a file has one of the marks.
func isMarked(path string, marks []string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 4<<10))
	return err == nil && slices.ContainsFunc(marks, func(mark string) bool { return bytes.Contains(head, []byte(mark)) })
}

// IsLog reports whether a file is a log, by its name.
func IsLog(file string) bool { return slices.Contains([]string{".log", ".err"}, filepath.Ext(file)) }

// documents are the names of files that describe a repository.
var documents = []string{"README", "CHANGELOG", "CHANGES", "HISTORY", "NEWS", "LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "CONTRIBUTING"}

// IsDocumentation reports whether a file only describes its repository, by its name.
func IsDocumentation(file string) bool {
	name := filepath.Base(file)
	extension := filepath.Ext(name)
	return slices.Contains([]string{"", ".md", ".rst", ".txt", ".adoc"}, extension) && slices.Contains(documents, strings.ToUpper(strings.TrimSuffix(name, extension)))
}

// pathOf returns the path in a line of Code.Changed.
func pathOf(line string) string { _, path, _ := strings.Cut(line, " "); return path }

// printable returns a path that can be a line of text.
func printable(path string) string {
	if quoted := strconv.Quote(path); quoted != `"`+path+`"` {
		return quoted
	}
	return path
}

// excluded returns the excluded paths that are in r's working tree and in no submodule, as git names them.
func (s *snapshot) excluded(ctx context.Context, r repo, in call) ([]string, error) {
	var out []string
	for _, path := range s.exclude {
		rel, err := filepath.Rel(r.top, real(path))
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if rel == "." {
			return nil, fmt.Errorf("%q is the whole tree and cannot be left out", path)
		}
		out = append(out, filepath.ToSlash(rel))
	}
	if len(out) == 0 {
		return nil, nil
	}
	links, err := gitlinks(ctx, in)
	return slices.DeleteFunc(out, func(path string) bool {
		for link := range links {
			if strings.HasPrefix(path+"/", link+"/") {
				return true
			}
		}
		return false
	}), err
}

// commitTree makes a commit of code's files on top of code's commit. It is the same one for the same files: its date is the date of the
// commit below.
func commitTree(ctx context.Context, in call, code Code) (string, error) {
	date, args := "@0 +0000", []string{"commit-tree", code.Tree, "-m", "the working tree, for a benchmark"}
	if code.Commit != "" {
		says, err := in.run(ctx, "rev-list", "--max-count=1", "--timestamp", code.Commit)
		if err != nil {
			return "", err
		}
		seconds, _, _ := strings.Cut(says, " ")
		date, args = "@"+seconds+" +0000", append(args, "-p", code.Commit)
	}
	in.env = slices.Clone(in.env)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		in.env = append(in.env, "GIT_"+who+"_NAME=neurolens", "GIT_"+who+"_EMAIL=neurolens@localhost", "GIT_"+who+"_DATE="+date)
	}
	return line(in.run(ctx, args...))
}

// line returns the output of git without the final line break.
func line(says string, err error) (string, error) { return strings.TrimSpace(says), err }

// fields splits the output of git with -z.
func fields(says string) []string {
	if says == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(says, "\x00"), "\x00")
}

const (
	ownerFile = "owner"                   // in each folder: locked while it is in use
	lockFile  = ".lock"                   // next to the folders: held while one is made or checked
	newOwner  = ".owner"                  // next to the folders: the owner file of the one that is being made
	heading   = "neurolens worktrees 1\n" // the beginning of an owner file: nothing without it is ever removed
)

// folder holds the two sides of one session. The process with the lock on its owner file owns it. git and its children inherit the lock:
// a folder that git still writes into is in use, even when this process is dead.
type folder struct {
	path  string
	owner *os.File
}

// sidesFolder returns the folder with the sides of all sessions: root, else one in the user's cache. It need not exist.
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

// own puts a locked owner file into the folder at path. The caller has the guard of root. The file is created complete: a process that
// is killed here must not leave an incomplete one, which Clean could not identify and would never remove.
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

// objects returns the folder of the objects of the snapshot of the user's working tree. It exists only if one was taken.
func (f *folder) objects() string { return filepath.Join(f.scratch(), objectsFolder) }

// scratch returns the folder of a snapshot, which lasts as long as the sides: the head borrows its objects from there.
func (f *folder) scratch() string { return filepath.Join(f.path, "scratch") }

// remove removes the sides, and unlocks the folder. After an error the folder remains without an owner, for Clean to try again.
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

// removeAll is like os.RemoveAll, and also empties folders that were made read-only. It follows no link.
func removeAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) // before it is read; an error shows at the removal
		}
		return nil
	})
	return os.RemoveAll(path)
}

// Clean removes the sides in root (see Options) whose process is dead, and returns their number. It keeps folders of a living process,
// and folders that no session created. The error names paths that could not be removed; the next call tries again.
func Clean(ctx context.Context, root string) (removed int, err error) {
	root, err = sidesFolder(root)
	if err != nil {
		return 0, nil // it has no folder for sides
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

// abandoned lists the folders in root without an owner, and makes the caller their owner.
func abandoned(root string) ([]*folder, error) {
	guard, err := lock(filepath.Join(root, lockFile), 0)
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	_ = os.Remove(filepath.Join(root, newOwner)) // left by a process that was killed: no other one makes it now
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

// ours reports whether the file is an owner file that still exists: the process that removed the folder may have held it until just now.
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
