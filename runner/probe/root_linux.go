package probe

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// systemRoot is the file tree that holds this system's proc, sys and etc.
func systemRoot() fs.FS {
	root := os.DirFS("/")
	if files, ok := root.(systemTree); ok {
		return systemFiles{files}
	}
	return root
}

// systemTree is what os.DirFS gives.
type systemTree interface {
	fs.ReadDirFS
	fs.ReadFileFS
	fs.StatFS
	fs.ReadLinkFS
}

// systemFiles opens files without preparing to wait for them, as package os does with six calls a file: a dozen of them is read before each run.
type systemFiles struct{ systemTree }

// Open is that of fs.FS.
func (s systemFiles) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	for {
		fd, err := syscall.Open("/"+name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			return &systemFile{name, fd}, nil
		}
		if err != syscall.EINTR {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

// systemFile is an open file.
type systemFile struct {
	name string
	fd   int
}

// Read is that of fs.File.
func (f *systemFile) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, err := syscall.Read(f.fd, b)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Stat is that of fs.File.
func (f *systemFile) Stat() (fs.FileInfo, error) { return os.Stat("/" + f.name) }

// Close is that of fs.File.
func (f *systemFile) Close() error { return syscall.Close(f.fd) }
