package ingest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// A Promise is a property of a file system that the protocol of a store relies on.
type Promise struct {
	Name    string
	Kept    bool
	Seen    string // what the file system did
	Without string // what its absence does to a store; empty where the promise is kept
	Remedy  string // what to do about it; empty where the promise is kept
}

// Promises tries on the file system of a store what its protocol relies on, and returns every promise with the result. It makes small
// files in tmp/ of the store and removes them. One process on one machine cannot see what other machines see through their caches, nor
// whether fsync reaches the disk. An error says why nothing could be tried: dir is no store, or not writable.
func Promises(ctx context.Context, dir string) ([]Promise, error) {
	files, err := disk.NewOS(dir)
	if err == nil {
		_, err = schema.ReadHeader(files)
	}
	var kept []Promise
	if err == nil {
		kept, err = promises(ctx, files, time.Now)
	}
	if err != nil {
		return nil, fmt.Errorf("trying the file system of store %s: %w", dir, err)
	}
	if mounts, err := os.Open("/proc/self/mountinfo"); err == nil { // elsewhere the kind of a file system is not known
		defer mounts.Close()
		if real, err := filepath.EvalSymlinks(string(files.Dir)); err == nil {
			kept = append(kept, diskOf(mountOf(bufio.NewScanner(mounts), real)))
		}
	}
	return kept, nil
}

// toCopy is the remedy where a store cannot be written safely.
const toCopy = "measure into a store on a disk, and copy it with neurolens store merge"

// promises tries each promise. A file system that does not keep one may answer with an error or with a wrong result.
func promises(ctx context.Context, files disk.Files, now func() time.Time) ([]Promise, error) {
	t := trial{files: files}
	defer t.clean()
	first, second := t.name(), t.name()
	if err := disk.MakeDirs(files, schema.TmpDir); err != nil { // a new store has none
		return nil, err
	}
	if err := t.write(first, "first"); err != nil {
		return nil, err
	}
	if err := t.write(second, "second"); err != nil {
		return nil, err
	}
	var kept []Promise
	try := func(name, seen string, err error, without, remedy string) {
		p := Promise{Name: name, Kept: err == nil, Seen: seen}
		if err != nil {
			p.Seen, p.Without, p.Remedy = err.Error(), without, remedy
		}
		kept = append(kept, p)
	}
	const replaces = "a run may replace another that has just been stored"
	try("names", "a name is taken once", t.names(first), replaces, toCopy)
	seen, err := t.links(second)
	try("links", seen, err, replaces, toCopy)
	try("listing", "a new name is listed at once", t.listing(first),
		"answers may lack the newest runs", "wait for them, or shorten the time for which this file system caches folders")
	try("fsync", "files and folders", t.fsync(), "a run that was acknowledged may be lost when the power fails", toCopy)
	try("rename", "files and folders", t.rename(first, second), "two processes may seal the same runs, or lose them", toCopy)
	try("locks", "one process has a lock", t.locks(ctx), "imports, merges and repairs do not wait for one another", "run one of them at a time")
	try("clock", "as on this machine", t.clock(now),
		"the work of a process that still runs may be taken over, and work of a dead one may stay", "synchronise the clocks of the machines")
	return kept, nil
}

// trial makes files with names of temporary files, so that any later writer removes what a crash leaves.
type trial struct {
	files disk.Files
	made  []string // all names that may exist
}

// name returns a name that is free.
func (t *trial) name() string {
	name := disk.TempName()
	t.made = append(t.made, name)
	return name
}

func (t *trial) clean() {
	for _, name := range t.made {
		_ = t.files.Remove(inFolder(name))
		_ = t.files.Remove(name)
	}
}

// inFolder returns the name of the one file in a folder of a trial.
func inFolder(folder string) string { return path.Join(folder, "file") }

// write creates a file with a content.
func (t *trial) write(name, content string) error {
	f, err := t.files.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(content))
	return errors.Join(err, f.Close())
}

// has returns an error unless a file has a content.
func (t *trial) has(name, content string) error {
	switch got, err := fs.ReadFile(t.files, name); {
	case err != nil:
		return err
	case string(got) != content:
		return errors.New("a file has the content of another")
	}
	return nil
}

func (t *trial) names(taken string) error {
	switch err := t.write(taken, "another"); {
	case err == nil:
		return errors.New("a file was created under the name of another")
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	return t.has(taken, "first")
}

// links also accepts a file system without links: there, files are published by renames, after a check that the name is free, and the names
// of a store are unique.
func (t *trial) links(second string) (seen string, err error) {
	first, link := t.name(), t.name()
	if err := t.write(first, "first"); err != nil {
		return "", err
	}
	if err := t.files.Link(first, link); disk.NoLinks(err) {
		return "none: files are renamed", nil
	} else if err != nil {
		return "", err
	}
	switch err := t.files.Link(second, link); {
	case err == nil:
		return "", errors.New("a link replaced a file")
	case !errors.Is(err, fs.ErrExist):
		return "", err
	}
	return "they replace no file", t.has(link, "first")
}

func (t *trial) listing(name string) error {
	entries, err := fs.ReadDir(t.files, schema.TmpDir)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == path.Base(name) }) {
		return errors.New("a new name is not listed yet")
	}
	return nil
}

// fsync tries a file and its folder. disk.SyncDir accepts a file system without fsync of folders, so it is not used here.
func (t *trial) fsync() error {
	f, err := t.files.Create(t.name())
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	dir, err := t.files.OpenDir(schema.TmpDir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// rename tries a file, which replaces another, and a folder with a file, which has its new name alone afterwards: so of two processes
// that rename a folder, one gets it.
func (t *trial) rename(first, second string) error {
	if err := t.files.Rename(second, first); err != nil {
		return err
	}
	if err := t.has(first, "second"); err != nil {
		return err
	}
	if disk.IsThere(t.files, second) {
		return errors.New("a renamed file still has its old name")
	}
	from, to := t.name(), t.name()
	if err := t.files.MakeDir(from); err != nil {
		return err
	}
	if err := t.write(inFolder(from), "in a folder"); err != nil {
		return err
	}
	if err := t.files.Rename(from, to); err != nil {
		return err
	}
	if t.files.Rename(from, t.name()) == nil {
		return errors.New("a folder was renamed twice")
	}
	return t.has(inFolder(to), "in a folder")
}

// lockPatience is how long it takes at most until a lock that is free is taken.
const lockPatience = 200 * time.Millisecond

// locks takes the lock of the store twice.
func (t *trial) locks(ctx context.Context) error {
	lock := func() (func(), error) {
		ctx, cancel := context.WithTimeout(ctx, lockPatience)
		defer cancel()
		return t.files.Lock(ctx)
	}
	unlock, err := lock()
	if errors.Is(err, context.DeadlineExceeded) {
		return nil // another process has it
	}
	if err != nil {
		return err
	}
	defer unlock()
	again, err := lock()
	switch {
	case err == nil:
		again()
		return errors.New("none, or two processes have the same lock")
	case !errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return nil
}

// maxSkew is the difference of two clocks that does no harm: work that nobody has touched for hours is taken over.
const maxSkew = time.Minute

// clock compares the clock of the file system with the clock of this machine.
func (t *trial) clock(now func() time.Time) error {
	name, before := t.name(), now()
	if err := t.write(name, "now"); err != nil {
		return err
	}
	info, err := fs.Stat(t.files, name)
	if err != nil {
		return err
	}
	if early, late := before.Sub(info.ModTime()), info.ModTime().Sub(now()); max(early, late) > maxSkew {
		return fmt.Errorf("it differs by %s from this machine", max(early, late).Round(time.Second))
	}
	return nil
}

// A mount is a file system in the tree of files.
type mount struct{ kind, source string }

// mountOf reads a file of the format of /proc/self/mountinfo (proc(5)) and returns the mount that a path lies in: the deepest one, and of
// several at one place the last. The zero mount is unknown.
func mountOf(lines *bufio.Scanner, file string) (m mount) {
	depth := -1
	for lines.Scan() {
		where, what, found := strings.Cut(lines.Text(), " - ")
		fields, kinds := strings.Fields(where), strings.Fields(what)
		if !found || len(fields) < 5 || len(kinds) < 2 {
			continue
		}
		at := unescaped(fields[4])
		if at != "/" && at != file && !strings.HasPrefix(file, at+"/") || len(at) < depth {
			continue
		}
		depth, m = len(at), mount{kinds[0], unescaped(kinds[1])}
	}
	return m
}

// unescaped replaces the octal numbers that stand for blanks, line breaks and backslashes.
func unescaped(field string) string {
	var b strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+4 <= len(field) {
			if c, err := strconv.ParseUint(field[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(field[i])
	}
	return b.String()
}

// buckets are words in the kinds and sources of mounts that are object storage.
var buckets = []string{"s3fs", "mountpoint-s3", "goofys", "gcsfuse", "rclone", "blobfuse", "geesefs"}

// diskOf says whether a mount keeps what is written.
func diskOf(m mount) Promise {
	p := Promise{Name: "kind", Kept: true, Seen: m.kind}
	switch isBucket := func(word string) bool { return strings.Contains(m.kind+" "+m.source, word) }; {
	case m.kind == "":
		p.Seen = "not known"
	case m.kind == "tmpfs" || m.kind == "ramfs":
		p.Kept, p.Without, p.Remedy = false, "it is memory: all runs are lost when the machine stops", "keep the store on a disk"
	case strings.HasPrefix(m.kind, "fuse") && slices.ContainsFunc(buckets, isBucket):
		p.Seen += " of " + m.source
		p.Kept, p.Without, p.Remedy = false, "a mounted bucket has neither links nor atomic renames between machines, whatever it answers to one", toCopy
	}
	return p
}
