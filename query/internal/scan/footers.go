package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/neurolens/neurolens/query/answer"
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
	return answer.StoreError(s.Stores[of.store].dir, fmt.Errorf("%s: %w", s.name(of), err))
}

// readFooter reads and checks the footer of a file.
func (s *Sources) readFooter(of *file) error {
	path := s.path(of)
	switch of.zone {
	case "":
		return CheckLive(path)
	case schema.SamplesDir:
		return CheckTable(path, schema.Samples)
	case schema.OpsDir:
		return CheckTable(path, schema.Ops)
	}
	return CheckRuns(path, int64(of.sealed.Rows))
}
