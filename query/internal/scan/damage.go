package scan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// vanished finds a listed file that no longer exists, and the sources that have it.
func (s *Sources) vanished() (in *Sources, gone *file, ok bool) {
	files := s.opened()
	for i := range files {
		if _, err := os.Lstat(s.path(&files[i])); errors.Is(err, fs.ErrNotExist) {
			return s, &files[i], true
		}
	}
	if s.other != nil {
		return s.other.vanished()
	}
	return nil, nil, false
}

// opened returns the files of runs that the question may have opened: the files of the sources, and sealed files that were read in place
// of packs.
func (s *Sources) opened() []file {
	files := slices.Concat(s.Live, s.Read)
	if s.footers == nil {
		return files
	}
	s.footers.mu.Lock()
	defer s.footers.mu.Unlock()
	listed := make(map[string]bool, len(s.Read))
	for i := range s.Read {
		listed[s.path(&s.Read[i])] = true
	}
	for _, f := range s.sealed {
		if path := s.path(&f); s.footers.seen[path] && !listed[path] {
			files = append(files, f)
		}
	}
	return files
}

// damaged returns the error of the footers of the files that were read.
func (s *Sources) damaged() error {
	err := s.footers.wait()
	if err == nil && s.other != nil {
		err = s.other.footers.wait()
	}
	return err
}

// blame turns an error of DuckDB that comes from a file into an error that names the file and wraps schema.ErrDamaged or the error of the
// file system. Other errors are returned unchanged. It reads every file, those in the message first. That is slow, but only happens if
// a question failed.
func (s *Sources) blame(ctx context.Context, cause error) error {
	if s.other != nil {
		if err := s.other.blame(ctx, cause); err != cause {
			return err
		}
	}
	files := slices.Concat(s.opened(), s.Beside(schema.Samples), s.Beside(schema.Ops))
	paths := s.Paths(files)
	message := cause.Error()
	for _, named := range []bool{true, false} {
		for i, f := range files {
			if strings.Contains(message, paths[i]) != named {
				continue
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			err := s.checkFile(&files[i])
			if err == nil && strings.HasSuffix(message, damageMark+paths[i]) {
				err = fmt.Errorf("%w: it does not contain the run that its name says", schema.ErrDamaged)
			}
			if named, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, schema.ErrDamaged) {
				err = named.Err
			}
			if err != nil {
				st := s.Stores[f.store]
				return answer.StoreError(st.dir, fmt.Errorf("%s: %w", strings.TrimPrefix(paths[i], st.path+"/"), err))
			}
		}
	}
	return cause
}

// checkFile checks the content of a file.
func (s *Sources) checkFile(of *file) error {
	run := &of.live.Run
	if of.folder != "" {
		run = nil
	}
	return CheckContent(schema.Dir(s.Stores[of.store].path), s.name(of), run)
}

// CheckLive checks the format, the number of rows and the size in the footer of a live file. The scan checks that the row is the run of
// the file's name; it would silently skip a file without rows.
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

// CheckTable checks a file of samples or ops, whose name does not contain its number of rows.
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
	return answer.StoreError(s.Stores[of.store].dir, fmt.Errorf("%s: %w", s.name(of), err))
}

// readFooter reads and checks the footer of a file.
func (s *Sources) readFooter(of *file) error {
	path := s.path(of)
	switch of.folder {
	case "":
		return CheckLive(path)
	case schema.SamplesDir:
		return CheckTable(path, schema.Samples)
	case schema.OpsDir:
		return CheckTable(path, schema.Ops)
	}
	return CheckRuns(path, int64(of.sealed.Rows))
}
