package artifacts

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// Save writes what is stored of artifacts into a folder, which it makes, each under its path, and gives how many files and
// bytes that is. What is there already stays: then, and where a path leads out of the folder, nothing is written, and the error
// is an ErrInput. What is not stored is passed over. A file that does not match its hash is an error that wraps
// schema.ErrDamaged, and is not left there.
func Save(all []Artifact, dir string) (files int, bytes int64, err error) {
	names, err := namesOf(all, dir)
	if err != nil {
		return 0, 0, err
	}
	for i := range all {
		if all[i].State != StateStored {
			continue
		}
		n, err := all[i].save(filepath.Join(dir, filepath.FromSlash(names[i])))
		if err != nil {
			return files, bytes, fmt.Errorf("saving %s: %w", fault.Printable(all[i].Path), err)
		}
		files, bytes = files+1, bytes+n
	}
	return files, bytes, nil
}

// namesOf are the paths of artifacts in a folder.
func namesOf(all []Artifact, dir string) ([]string, error) {
	names := make([]string, len(all))
	taken := map[string]bool{}
	for i, a := range all {
		if a.State != StateStored {
			continue
		}
		name := path.Clean(strings.TrimLeft(a.Path, "/"))
		if !filepath.IsLocal(filepath.FromSlash(name)) || name == "." {
			return nil, fault.Input("save: the artifact %s would lie outside of %s", fault.Brief(a.Path), dir)
		}
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		switch {
		case taken[name] || err == nil:
			return nil, fault.Input("save: %s is already there", filepath.Join(dir, filepath.FromSlash(name)))
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return nil, fault.Input("save: %v", err)
		}
		names[i], taken[name] = name, true
	}
	return names, nil
}

// save writes one artifact to a new file, which is there when it is whole.
func (a *Artifact) save(name string) (n int64, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return 0, err
	}
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

// Open reads the content of an artifact that is stored. At its end it is compared with the hash of the file: a difference is an
// error that wraps schema.ErrDamaged.
func (a *Artifact) Open() (io.ReadCloser, error) {
	file, err := a.store.OpenFile(schema.ArtifactPath(a.SHA256))
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	stored := bufio.NewReader(io.TeeReader(file, sum))
	frame, err := zstd.NewReader(stored, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow))
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &content{file, stored, frame, sum, a.SHA256}, nil
}

// maxWindow bounds the memory, in B, that reading a frame may want.
const maxWindow = 64 << 20

// content is the content of a stored artifact.
type content struct {
	file   io.Closer
	stored *bufio.Reader
	frame  *zstd.Decoder
	sum    hash.Hash
	want   string
}

func (c *content) Read(b []byte) (int, error) {
	n, err := c.frame.Read(b)
	switch {
	case errors.Is(err, io.EOF):
		if _, err := io.Copy(io.Discard, c.stored); err != nil {
			return n, err
		}
		if hex.EncodeToString(c.sum.Sum(nil)) != c.want {
			return n, fmt.Errorf("%w: it has another hash than its name", schema.ErrDamaged)
		}
	case err != nil:
		err = fmt.Errorf("%w: %w", schema.ErrDamaged, err)
	}
	return n, err
}

// Close releases the file.
func (c *content) Close() error {
	c.frame.Close()
	return c.file.Close()
}
