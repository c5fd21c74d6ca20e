package scan

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/neurolens/neurolens/schema"
)

// CheckLive checks the format, the number of rows and the size in the footer of a live file. That the row is the run of the file's name is checked
// by the scan, which would silently skip a file without rows.
func CheckLive(path string) error {
	return with(path, func(file io.ReaderAt, size int64) error {
		footer, err := schema.ReadLiveFooter(file, size)
		if err := cmp.Or(schema.CheckFormat(footer.Format), err); err != nil {
			return err
		}
		if footer.Rows != 1 {
			return fmt.Errorf("%w: it has %d rows, and a file of one run has one", schema.ErrDamaged, footer.Rows)
		}
		return nil
	})
}

// CheckRuns checks the format, the columns and the number of rows in the footer of another file of runs.
func CheckRuns(path string, rows int64) error {
	return with(path, func(file io.ReaderAt, size int64) error {
		footer, err := schema.ReadFooter(file, size)
		if err != nil {
			return err
		}
		return footer.Check(schema.Runs, rows)
	})
}

// CheckTable is Runs for a file of another table, whose name does not have its number of rows.
func CheckTable(path string, t *schema.Table) error {
	return with(path, func(file io.ReaderAt, size int64) error {
		footer, err := schema.ReadFooter(file, size)
		if err != nil {
			return err
		}
		return footer.Check(t, footer.Rows)
	})
}

// CheckContent checks the hash of a file and, unless run is nil, that it has the run of its name.
func CheckContent(store schema.Dir, name string, run *schema.ULID) (err error) {
	f, err := store.OpenFile(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := schema.CheckFileHashAt(f, info.Size()); err != nil || run == nil {
		return err
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(f, content); err != nil {
		return err
	}
	if !bytes.Contains(content, []byte(run.String())) { // ids are stored uncompressed and without encoding
		return fmt.Errorf("%w: it does not contain the run that its name says", schema.ErrDamaged)
	}
	return nil
}

// with opens a file with as few system calls as possible, because there may be thousands. The listing has checked that it is a regular
// file; if something else has replaced it since, opening does not block.
func with(path string, check func(file io.ReaderAt, size int64) error) error {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	var info syscall.Stat_t
	if err := syscall.Fstat(fd, &info); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return check(descriptor(fd), info.Size)
}

// descriptor is an open file.
type descriptor int

func (d descriptor) ReadAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		more, err := syscall.Pread(int(d), b[n:], at+int64(n))
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return n, err
		case more == 0:
			return n, io.EOF
		}
		n += more
	}
	return n, nil
}
