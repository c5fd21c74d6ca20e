package files

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestNoFile: a path that is not a regular file is written to and not replaced.
func TestNoFile(t *testing.T) {
	link := filepath.Join(t.TempDir(), "out")
	valuetest.OK(t, os.Symlink(os.DevNull, link))
	wrote := 0
	err := Write(link, func(w io.Writer) error {
		n, err := io.WriteString(w, "text")
		wrote = n
		return err
	})
	if to, linked := os.Readlink(link); err != nil || wrote != 4 || linked != nil || to != os.DevNull {
		t.Errorf("%d bytes, %v; it is %s now, %v", wrote, err, to, linked)
	}
}
