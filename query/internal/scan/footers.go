package scan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// footerChecks check the footers of the files that a question reads, in parallel to the query. DuckDB trusts footers: it silently leaves
// out rows that a footer does not mention, and reads files of other formats.
type footerChecks struct {
	mu     sync.Mutex
	seen   map[string]bool
	failed error // the first
	wg     sync.WaitGroup
}

func newFooterChecks() *footerChecks { return &footerChecks{seen: map[string]bool{}} }

// begin starts to check the files that were not checked before. If c is nil, nothing is checked.
func (c *footerChecks) begin(s *Sources, files []file) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var fresh []file
	for _, f := range files {
		if path := s.path(&f); !c.seen[path] && !f.broken {
			c.seen[path] = true
			fresh = append(fresh, f)
		}
	}
	if len(fresh) == 0 || c.failed != nil {
		return
	}
	c.wg.Go(func() {
		for _, f := range fresh {
			if err := s.checkFooter(&f); err != nil {
				c.mu.Lock()
				defer c.mu.Unlock()
				if c.failed == nil {
					c.failed = err
				}
				return
			}
		}
	})
}

// wait returns the error of the files.
func (c *footerChecks) wait() error {
	c.wg.Wait()
	return c.failed
}

// checkFooter compares the footer of a file with its name. A missing file was moved, which is detected elsewhere.
func (s *Sources) checkFooter(of *file) error {
	err := s.readFooter(of)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	return fault.Store(s.Stores[of.store].dir, fmt.Errorf("%s: %w", s.name(of), err))
}

// readFooter opens a file with as few system calls as possible, because there may be thousands. The listing has checked that it is a
// regular file; if something else has replaced it since, opening does not block.
func (s *Sources) readFooter(of *file) error {
	path := s.path(of)
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	var info syscall.Stat_t
	if err := syscall.Fstat(fd, &info); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if of.zone == "" {
		return checkLive(descriptor(fd), info.Size)
	}
	footer, err := schema.ReadFooter(descriptor(fd), info.Size)
	if err != nil {
		return err
	}
	switch of.zone {
	case schema.SamplesDir:
		return footer.Check(schema.Samples.Columns, footer.Rows)
	case schema.OpsDir:
		return footer.Check(schema.Ops.Columns, footer.Rows)
	}
	return footer.Check(schema.Runs.Columns, int64(of.sealed.Rows))
}

// checkLive checks the format and the number of rows in the footer of a live file. That the row is the run of the file's name is checked
// by the scan, which would silently skip a file without rows.
func checkLive(file io.ReaderAt, size int64) error {
	format, rows, err := schema.ReadFooterRows(file, size)
	if err != nil {
		return err
	}
	if err := schema.CheckFormat(format); err != nil {
		return err
	}
	if rows != 1 {
		return fmt.Errorf("%w: it has %d rows, and a file of one run has one", schema.ErrDamaged, rows)
	}
	return nil
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
