package artifacts

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// Save writes the stored artifacts into a folder, each under its path, and returns the number of files and bytes. It makes the folder. A
// path cannot lead out of the folder, and a second file with the same path gets the suffix ~2. If a file already exists, nothing is
// written, and the error is an ErrInput. Artifacts that are not stored are skipped. A file that does not match its hash is removed, and
// is an error that wraps schema.ErrDamaged.
func Save(all []Artifact, dir string) (files int, bytes int64, err error) {
	names := namesOf(all)
	for i, name := range names {
		if names[i] = filepath.Join(dir, filepath.FromSlash(name)); name == "" {
			continue
		}
		if _, err := os.Lstat(names[i]); err == nil {
			return 0, 0, fault.Input("save: %s is already there", names[i])
		}
	}
	for i := range all {
		if all[i].State != StateStored {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(names[i]), 0o777); err != nil {
			return files, bytes, fault.Input("save: %v", err)
		}
		n, err := all[i].save(names[i])
		if err != nil {
			return files, bytes, fmt.Errorf("saving %s: %w", fault.Printable(all[i].Path), err)
		}
		files, bytes = files+1, bytes+n
	}
	return files, bytes, nil
}

// namesOf are the relative paths of artifacts in a folder, none of which leads out of it; empty for artifacts that are not stored.
func namesOf(all []Artifact) []string {
	names := make([]string, len(all))
	taken := map[string]bool{}
	for i, a := range all {
		if a.State != StateStored {
			continue
		}
		name := strings.TrimPrefix(path.Clean("/"+a.Path), "/")
		if name == "" {
			name = a.Kind
		}
		names[i] = name
		for n := 2; taken[names[i]]; n++ {
			names[i] = fmt.Sprintf("%s~%d", name, n)
		}
		taken[names[i]] = true
	}
	return names
}

// save writes one artifact to a new file, and removes the file if that fails.
func (a *Artifact) save(name string) (n int64, err error) {
	content, err := a.Open()
	if err != nil {
		return 0, err
	}
	defer content.Close()
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, content)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return n, errors.Join(err, os.Remove(name))
	}
	return n, nil
}

// Open reads the content of a stored artifact. At the end the content is compared with the hash; a difference is an error that wraps
// schema.ErrDamaged.
func (a *Artifact) Open() (io.ReadCloser, error) {
	file, err := a.store.OpenFile(a.name)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	stored := bufio.NewReader(io.TeeReader(file, sum))
	c := &content{file: file, stored: stored, of: stored, sum: sum, want: a.SHA256}
	if !schema.IsFrame(a.name) {
		return c, nil
	}
	if c.frame, err = zstd.NewReader(stored, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	c.of = c.frame
	return c, nil
}

// maxWindow is the maximum memory, in bytes, for reading a compressed file.
const maxWindow = 64 << 20

// content is the content of a stored artifact.
type content struct {
	file   io.Closer
	stored *bufio.Reader
	frame  *zstd.Decoder // nil: not compressed
	of     io.Reader     // the uncompressed content
	sum    hash.Hash
	want   string
}

func (c *content) Read(b []byte) (int, error) {
	n, err := c.of.Read(b)
	switch {
	case errors.Is(err, io.EOF):
		if _, err := io.Copy(io.Discard, c.stored); err != nil {
			return n, err
		}
		if hex.EncodeToString(c.sum.Sum(nil)) != c.want {
			return n, fmt.Errorf("%w: its hash does not match its name", schema.ErrDamaged)
		}
	case err != nil:
		err = fmt.Errorf("%w: %w", schema.ErrDamaged, err)
	}
	return n, err
}

// Close releases the file.
func (c *content) Close() error {
	if c.frame != nil {
		c.frame.Close()
	}
	return c.file.Close()
}
