package device

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// pause is how long a process that waits for a device leaves it alone: a flock that blocks cannot be interrupted.
const pause = 200 * time.Millisecond

// DefaultDir is where the locks are: NEUROLENS_LOCKS, else one directory for all users, whatever their TMPDIR.
func DefaultDir(getenv func(string) string) string {
	if dir := getenv("NEUROLENS_LOCKS"); dir != "" {
		return dir
	}
	return "/tmp/neurolens-locks"
}

// BusyError says that another process is measuring a device.
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

// Release unlocks the devices. The files remain, without their last owner.
func (h *Held) Release() {
	for _, file := range h.files {
		_ = file.Truncate(0) // what is left there names a process that is gone, and no lock
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

// flock locks a file unless another process, or another part of this one, has.
func flock(file *os.File) error {
	for {
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
