package scan

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// Options of Stores: see query.Options.
type Options struct {
	MemoryLimit int64             // bytes for SQL of users, and for questions that need more than usual; 0: DuckDB's default
	Remark      func(text string) // receives notes for the user; nil: dropped
	TempDir     string            // directory for temporary files; empty: the default of the system
}

// Stores are stores that are read together. Every question lists their files again. They are safe for concurrent use.
type Stores struct {
	Options
	dirs        []store
	engine      func() (*duck.Engine, error) // for statements of this program, started at first use
	closed      func() error
	closing     *closing
	withRemoved bool      // removed runs are included
	snapshot    *snapshot // a listing for several questions; nil: each question lists
}

// store is a directory: dir as the user gave it, path absolute and without symbolic links.
type store struct {
	dir, path string
	created   time.Time
}

// Open reads the headers of the stores; its errors are those of query.Open.
func Open(ctx context.Context, dirs []string, opts Options) (*Stores, error) {
	if len(dirs) == 0 {
		return nil, answer.InputError("no store is named")
	}
	opts.TempDir = cmp.Or(opts.TempDir, os.TempDir())
	all := &Stores{Options: opts, closing: &closing{}}
	for _, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if dir == "" {
			return nil, answer.InputError("the name of a store is empty")
		}
		header, err := schema.ReadHeader(schema.Dir(dir))
		if err != nil {
			return nil, answer.StoreError(dir, err)
		}
		path, err := RealPath(dir)
		if err == nil {
			err = duck.CheckPath(path)
		}
		if err != nil {
			return nil, answer.StoreError(dir, err)
		}
		all.dirs = append(all.dirs, store{dir, path, header.Created})
	}
	var started *duck.Engine
	all.engine = sync.OnceValues(func() (*duck.Engine, error) {
		var err error
		started, err = duck.Open(duck.OwnMemory, all.TempDir)
		return started, err
	})
	all.closed = sync.OnceValue(func() error {
		if started != nil {
			all.closing.close(started)
		}
		return all.closing.wait()
	})
	return all, nil
}

// WithoutWarnings returns the same stores without remarks.
func (s *Stores) WithoutWarnings() *Stores {
	quiet := *s
	quiet.Remark = nil
	return &quiet
}

// WithRemoved returns the same stores including removed runs.
func (s *Stores) WithRemoved() *Stores {
	all := *s
	all.withRemoved, all.snapshot = true, nil // a snapshot lacks removed runs
	return &all
}

// Removed returns the runs that are removed.
func (s *Stores) Removed() (*RemovedRuns, error) {
	src, err := s.list(time.Time{})
	if err != nil {
		return nil, err
	}
	return src.Events.Removed, nil
}

// Close releases DuckDB. Nothing else may be called during or after it.
func (s *Stores) Close() error { return s.closed() }

// Single reports whether there is only one store.
func (s *Stores) Single() bool { return len(s.dirs) == 1 }

// Paths returns the directories of the stores, absolute and without symbolic links.
func (s *Stores) Paths() []string {
	paths := make([]string, len(s.dirs))
	for i, st := range s.dirs {
		paths[i] = st.path
	}
	return paths
}

// Holds returns the store, as it was given to Open, that contains a path without symbolic links; empty: none.
func (s *Stores) Holds(path string) string {
	for _, st := range s.dirs {
		if path == st.path || strings.HasPrefix(path, strings.TrimSuffix(st.path, "/")+"/") {
			return st.dir
		}
	}
	return ""
}

// OwnEngine starts an engine for one SQL text of a user. release closes it in the background, because closing may take as long as
// printing the answer.
func (s *Stores) OwnEngine() (e *duck.Engine, release func(), err error) {
	if e, err = duck.Open(s.MemoryLimit, s.TempDir); err != nil {
		return nil, nil, err
	}
	return e, func() { s.closing.close(e) }, nil
}

// closing waits for engines that are being closed in the background.
type closing struct {
	each sync.WaitGroup
	mu   sync.Mutex
	err  error
}

// close starts to close an engine.
func (c *closing) close(e *duck.Engine) {
	c.each.Go(func() {
		err := e.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.err = errors.Join(c.err, err)
	})
}

// wait waits until all engines are closed.
func (c *closing) wait() error {
	c.each.Wait()
	return c.err
}

// RealPath returns an absolute path without symbolic links.
func RealPath(dir string) (string, error) {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
