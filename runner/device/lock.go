// Package device names the devices that a sweep measures (the processor, each GPU), and lets only one process at a time measure
// on each of them.
//
// A device is locked with flock on a file of its own, in a directory that all users of the machine share. The kernel releases
// the lock when its owner exits for any reason. The files are never removed: if one were removed while another process waits for
// it, two processes could measure at once. The content of a file names its owner, for people to read. Locks only keep NeuroLens
// from disturbing itself, because other programs do not check them. Containers that do not share the directory do not see each
// other's locks.
package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

// pause is the interval at which a process that waits for a device tries to lock it: a blocking flock cannot be interrupted.
const pause = 200 * time.Millisecond

// DefaultDir returns where the locks are: NEUROLENS_LOCKS, else one directory for all users, whatever their TMPDIR.
func DefaultDir(getenv func(string) string) string {
	if dir := getenv("NEUROLENS_LOCKS"); dir != "" {
		return dir
	}
	return "/tmp/neurolens-locks"
}

// BusyError means that another process is measuring a device.
type BusyError struct {
	Device string
	Owner  string // for people: pid 123 (neurolens bench x.yaml) since 11:02
}

// Error names the owner of the device, and the option to wait for it.
func (e *BusyError) Error() string {
	return fmt.Sprintf("%s is being measured by %s; use --wait to wait for it", e.Device, e.Owner)
}

// Held are the devices that this process has locked.
type Held struct{ files []*os.File }

// Lock locks devices for this process, in a fixed order, so that two processes never wait for each other. It creates dir for all users
// if necessary. If another process holds a device, the error is a *BusyError. With onWait, Lock calls it once with the device and its
// owner instead, and waits until ctx ends, whose error it then returns. After an error nothing is locked.
func Lock(ctx context.Context, dir string, devices []string, onWait func(device, owner string)) (*Held, error) {
	held := &Held{}
	for _, device := range slices.Compact(slices.Sorted(slices.Values(devices))) {
		file, err := lockOne(ctx, dir, device, onWait)
		if err != nil {
			held.Release()
			return nil, err
		}
		held.files = append(held.files, file)
	}
	return held, nil
}

// Add adds the devices of another Held.
func (h *Held) Add(other *Held) { h.files = append(h.files, other.files...) }

// Release unlocks the devices. The files remain, without their last owner.
func (h *Held) Release() {
	for _, file := range h.files {
		_ = file.Truncate(0) // any text names a process that is gone, because it holds no lock
		file.Close()
	}
	h.files = nil
}

// lockOne locks one device.
func lockOne(ctx context.Context, dir, device string, onWait func(device, owner string)) (*os.File, error) {
	for told := false; ; {
		file, err := openLock(dir, word(device)+".lock")
		if err != nil {
			return nil, lockError(device, dir, err)
		}
		if err = flock(file); err == nil {
			err = writeOwner(file)
		}
		if err == nil {
			return file, nil
		}
		owner := readOwner(file).String()
		file.Close()
		switch {
		case !errors.Is(err, unix.EWOULDBLOCK):
			return nil, lockError(device, dir, err)
		case onWait == nil:
			return nil, &BusyError{Device: device, Owner: owner}
		case !told:
			onWait(device, owner)
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %s: %w", device, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// lockError is why a directory cannot hold the lock of a device: it may not be writable, or its file system has no locks.
func lockError(device, dir string, err error) error {
	return fmt.Errorf("locking %s in %s: %w; NEUROLENS_LOCKS sets another directory", device, dir, err)
}

// flock locks a file unless another process, or another part of this one, holds the lock.
func flock(file *os.File) error {
	for {
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

const (
	everyone = 0o666 // of a file, whoever made it
	sticky   = 0o1777
	harmless = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
)

// openLock opens a lock file, and creates it and its directory if necessary. Everybody can write there, so the file is not trusted:
// links are not followed, and anything except a regular file with a single name is refused, since it will be written to.
func openLock(dir, name string) (*os.File, error) {
	folder, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	defer unix.Close(folder)
	file, err := openFile(folder, dir, name)
	if err != nil {
		return nil, err
	}
	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		file.Close()
		return nil, fmt.Errorf("reading the state of %s: %w", name, err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG || stat.Nlink > 1 {
		file.Close()
		return nil, fmt.Errorf("%s is not a regular file with a single link", name)
	}
	return file, nil
}

// openDir opens the directory of the locks. A directory that it creates is writable by everybody, whatever the umask.
func openDir(dir string) (int, error) {
	made := os.Mkdir(dir, 0o777)
	if made != nil && !errors.Is(made, os.ErrExist) {
		return 0, made
	}
	folder, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|harmless, 0)
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	if made != nil {
		return folder, nil
	}
	if err := unix.Fchmod(folder, sticky); err != nil {
		unix.Close(folder)
		return 0, &os.PathError{Op: "chmod", Path: dir, Err: err}
	}
	return folder, nil
}

// openFile opens the file of another process or makes one. The two are apart, because Linux refuses to open the file
// of another user in such a directory with a flag that would make it (fs.protected_regular).
func openFile(folder int, dir, name string) (*os.File, error) {
	path := filepath.Join(dir, name)
	for {
		fd, err := unix.Openat(folder, name, unix.O_RDWR|harmless, 0)
		if err == nil {
			return os.NewFile(uintptr(fd), path), nil
		}
		if !errors.Is(err, unix.ENOENT) {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		fd, err = unix.Openat(folder, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|harmless, everyone)
		if errors.Is(err, unix.EEXIST) {
			continue // another process was faster
		}
		if err != nil {
			return nil, &os.PathError{Op: "create", Path: path, Err: err}
		}
		if err := unix.Fchmod(fd, everyone); err != nil {
			unix.Close(fd)
			return nil, &os.PathError{Op: "chmod", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// longestOwner is the most bytes of a lock file that are read or written.
const longestOwner = 4096

// owner is the content of a lock file: the process that locked it. Anybody can write there, so it is only shown.
type owner struct {
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Command string    `json:"command"`
}

// writeOwner notes that this process has locked file.
func writeOwner(file *os.File) error {
	words := append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)
	text, err := json.Marshal(owner{
		PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second), Command: shortened(strings.Join(words, " ")),
	})
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt(append(text, '\n'), 0)
	return err
}

// readOwner reads who locked a file. An unreadable owner file yields an unknown owner.
func readOwner(file *os.File) owner {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, longestOwner))
	if err != nil {
		return owner{}
	}
	return parseOwner(text)
}

func parseOwner(text []byte) owner {
	var o owner
	if err := json.Unmarshal(text, &o); err != nil {
		return owner{}
	}
	o.Command = shortened(o.Command)
	return o
}

// String returns the owner for people: pid 123 (neurolens bench x.yaml) since 11:02.
func (o owner) String() string {
	if o.PID <= 0 {
		return "another process"
	}
	text := fmt.Sprintf("pid %d", o.PID)
	if o.Command != "" {
		text += " (" + o.Command + ")"
	}
	if o.Since.IsZero() {
		return text
	}
	since, layout := o.Since.Local(), "15:04"
	if time.Since(since) > 12*time.Hour {
		layout = "2006-01-02 15:04"
	}
	return text + " since " + since.Format(layout)
}

// shortened returns a command in one short line that cannot steer a terminal.
func shortened(command string) string {
	const maxLetters = 100
	letters := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, command))
	if len(letters) > maxLetters {
		return string(letters[:maxLetters-1]) + "…"
	}
	return string(letters)
}
