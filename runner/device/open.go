package device

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	everyone = 0o666 // of a file, whoever made it
	sticky   = 0o1777
	harmless = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
)

// openLock opens a lock file, which it makes if need be, with its directory. Everybody can write there, so nothing is
// taken for granted: links are not followed, and what is not a plain file under one name only is refused, since it
// will be written to.
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

// openDir opens the directory of the locks. One that it makes is for everybody, whatever the umask.
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
