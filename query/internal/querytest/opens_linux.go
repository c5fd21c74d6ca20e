package querytest

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Opens asks a question and returns how often it opened each file of a store, by path relative to the store. It counts by inotify(7),
// which merges equal events that follow each other: two opens of a file count as one where no other file was opened or closed between them.
func Opens(t testing.TB, store string, ask func()) map[string]int {
	t.Helper()
	watcher, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Close(watcher); err != nil {
			t.Error(err)
		}
	}()
	directories := map[int32]string{}
	err = filepath.WalkDir(store, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		id, err := unix.InotifyAddWatch(watcher, path, unix.IN_OPEN|unix.IN_CLOSE)
		directories[int32(id)] = path
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ask()
	opens := map[string]int{}
	buffer := make([]byte, 1<<20)
	for {
		n, err := unix.Read(watcher, buffer)
		if err == unix.EAGAIN {
			return opens
		}
		if err != nil {
			t.Fatal(err)
		}
		for rest := buffer[:n]; len(rest) > 0; { // struct inotify_event: wd, mask, cookie, length of the name, name
			id, mask, length := int32(binary.NativeEndian.Uint32(rest)), binary.NativeEndian.Uint32(rest[4:]), binary.NativeEndian.Uint32(rest[12:])
			name, _, _ := bytes.Cut(rest[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+length], []byte{0})
			rest = rest[unix.SizeofInotifyEvent+length:]
			if mask&unix.IN_Q_OVERFLOW != 0 {
				t.Fatal("inotify lost events")
			}
			if mask&unix.IN_OPEN != 0 && mask&unix.IN_ISDIR == 0 {
				path, err := filepath.Rel(store, filepath.Join(directories[id], string(name)))
				if err != nil {
					t.Fatal(err)
				}
				opens[path]++
			}
		}
	}
}
