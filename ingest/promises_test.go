package ingest

import (
	"bufio"
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// odd is a file system that does not keep a promise.
type odd struct {
	disk.Files
	create   func(name string) (disk.File, error)
	link     func(from, to string) error
	rename   func(from, to string) error
	lock     func(context.Context) (func(), error)
	openDir  func(name string) (disk.File, error)
	unlisted bool
}

func (o odd) Create(name string) (disk.File, error) {
	if o.create != nil {
		return o.create(name)
	}
	return o.Files.Create(name)
}

func (o odd) Link(from, to string) error {
	if o.link != nil {
		return o.link(from, to)
	}
	return o.Files.Link(from, to)
}

func (o odd) Rename(from, to string) error {
	if o.rename != nil {
		return o.rename(from, to)
	}
	return o.Files.Rename(from, to)
}

func (o odd) Lock(ctx context.Context) (func(), error) {
	if o.lock != nil {
		return o.lock(ctx)
	}
	return o.Files.Lock(ctx)
}

func (o odd) OpenDir(name string) (disk.File, error) {
	if o.openDir != nil {
		return o.openDir(name)
	}
	return o.Files.OpenDir(name)
}

func (o odd) ReadDir(name string) ([]fs.DirEntry, error) {
	if o.unlisted {
		return nil, nil
	}
	return fs.ReadDir(o.Files, name)
}

// noSync is a folder without fsync.
type noSync struct{ disk.File }

func (noSync) Sync() error { return syscall.EINVAL }

// TestPromises: a disk keeps every promise, each promise that a file system breaks is found alone, and nothing is left.
func TestPromises(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	valuetest.OK(t, Init(dir))
	files := valuetest.Must(disk.NewOS(dir))
	later := func() time.Time { return time.Now().Add(25 * time.Hour) }
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, test := range []struct {
		name   string
		files  disk.Files
		now    func() time.Time
		broken map[string]string // what is seen, by the names of the promises that are broken
	}{
		{name: "a disk", files: files},
		{name: "no links", files: &storetest.Faulty{OS: files, At: 1 << 30, Linkless: true}},
		{
			"names are taken twice",
			odd{Files: files, create: func(name string) (disk.File, error) { return os.Create(at(name)) }},
			nil,
			map[string]string{"names": "a file was created under the name of another"},
		},
		{
			"links replace files",
			odd{Files: files, link: func(from, to string) error {
				return os.WriteFile(at(to), valuetest.Must(os.ReadFile(at(from))), 0o666)
			}},
			nil,
			map[string]string{"links": "a link replaced a file"},
		},
		{
			"no locks",
			odd{Files: files, lock: func(context.Context) (func(), error) { return func() {}, nil }},
			nil,
			map[string]string{"locks": "none, or two processes have the same lock"},
		},
		{
			"no fsync of folders",
			odd{Files: files, openDir: func(name string) (disk.File, error) {
				opened, err := files.OpenDir(name)
				return noSync{opened}, err
			}},
			nil,
			map[string]string{"fsync": "invalid argument"},
		},
		{
			"folders are copied",
			odd{Files: files, rename: func(from, to string) error {
				if info, err := os.Stat(at(from)); err == nil && info.IsDir() {
					return os.CopyFS(at(to), os.DirFS(at(from)))
				}
				return files.Rename(from, to)
			}},
			nil,
			map[string]string{"rename": "a folder was renamed twice"},
		},
		{
			"no renames",
			odd{Files: files, rename: func(_, _ string) error { return syscall.ENOSYS }},
			nil,
			map[string]string{"rename": "function not implemented"},
		},
		{"a stale listing", odd{Files: files, unlisted: true}, nil, map[string]string{"listing": "a new name is not listed yet"}},
		{"a clock that is late", files, later, map[string]string{"clock": "it differs by 25h0m0s from this machine"}},
	} {
		if test.now == nil {
			test.now = time.Now
		}
		promises, err := promises(t.Context(), test.files, test.now)
		valuetest.OK(t, err, test.name)
		broken := map[string]string{}
		for _, p := range promises {
			if !p.Kept {
				broken[p.Name] = p.Seen
			}
			valuetest.Equal(t, p.Kept, p.Without+p.Remedy == "", test.name, p.Name)
		}
		if !maps.Equal(broken, test.broken) {
			t.Errorf("%s: broken promises %v, want %v", test.name, broken, test.broken)
		}
		valuetest.Equal(t, len(valuetest.Must(os.ReadDir(at(schema.TmpDir)))), 0, test.name)
	}
	_, err := Promises(t.Context(), t.TempDir())
	valuetest.Fails(t, err, "no store")
}

// TestPromisesLeftByCrash: what a process leaves that dies while it tries a file system is removed after a day.
func TestPromisesLeftByCrash(t *testing.T) {
	folder := path.Join(schema.TmpDir, schema.NewULID(time.Now()).String()+disk.TempSuffix)
	old := &fstest.MapFile{Mode: fs.ModeDir | 0o777, ModTime: time.Now().Add(-2 * disk.TempAge)}
	files := storetest.Memory{MapFS: fstest.MapFS{schema.TmpDir: storetest.MemoryDir(), folder: old, folder + "/file": {Data: []byte("x")}}}
	disk.RemoveOldTemps(files, time.Now())
	valuetest.Equal(t, len(files.MapFS), 1)
}

// TestMountOf: a path lies in the deepest mount, whose place may have blanks.
func TestMountOf(t *testing.T) {
	const mounts = `22 1 259:1 / / rw,relatime - ext4 /dev/root rw
30 22 0:26 / /data rw shared:1 - nfs4 host:/export rw
31 30 0:27 / /data/a\040bucket rw - fuse mountpoint-s3 rw
32 22 0:28 / /data2 rw - fuse.rclone remote:bucket rw
33 22 0:29 / /shm rw - tmpfs shm rw
34 33 0:30 / /shm rw - ext4 /dev/sdb rw
broken line
`
	for file, want := range map[string]mount{
		"/home/x/store":         {"ext4", "/dev/root"},
		"/data/store":           {"nfs4", "host:/export"},
		"/data":                 {"nfs4", "host:/export"},
		"/data/a bucket/store":  {"fuse", "mountpoint-s3"},
		"/data/a bucket2/store": {"nfs4", "host:/export"},
		"/data2/store":          {"fuse.rclone", "remote:bucket"},
		"/shm/store":            {"ext4", "/dev/sdb"},
	} {
		got := mountOf(bufio.NewScanner(strings.NewReader(mounts)), file)
		valuetest.Equal(t, got, want, file)
	}
	for m, kept := range map[mount]bool{
		{"ext4", "/dev/root"}: true, {"nfs4", "host:/export"}: true, {"fuse", "mountpoint-s3"}: false, {"fuse.rclone", "remote:bucket"}: false,
		{"tmpfs", "shm"}: false, {"fuse.sshfs", "host:"}: true, {}: true,
	} {
		valuetest.Equal(t, diskOf(m).Kept, kept, m)
	}
}

// FuzzMountOf: no content of a file of mounts is a reason to stop.
func FuzzMountOf(f *testing.F) {
	f.Add(`31 30 0:27 / /a\040b\777\ rw - fuse x\`, "/a b")
	f.Fuzz(func(_ *testing.T, lines, file string) {
		mountOf(bufio.NewScanner(strings.NewReader(lines)), file)
	})
}
