package query

import (
	"bufio"
	"context"
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

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// SaveArtifacts writes the stored artifacts into a folder, each under its path, and returns the number of files and bytes. It makes the
// folder. A second file with the same path gets the suffix ~2. Nothing is written outside of the folder: not by a path, not by a kind,
// which is the name of a file without a path, and not through a symbolic link in the folder. If a file already exists, nothing is
// written, and the error is an ErrInput. Artifacts that are not stored are skipped. A file that does not match its hash or its size is
// removed, and is an error that wraps schema.ErrDamaged.
func SaveArtifacts(ctx context.Context, all []Artifact, dir string) (files int, bytes int64, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, 0, answer.InputError("save: %v", err)
	}
	into, err := os.OpenRoot(dir)
	if err != nil {
		return 0, 0, answer.InputError("save: %v", err)
	}
	defer into.Close()
	names := namesOf(all)
	for _, name := range names {
		if name == "" {
			continue
		}
		switch _, err := into.Lstat(name); {
		case err == nil:
			return 0, 0, answer.InputError("save: %s is already there", filepath.Join(dir, name))
		case !errors.Is(err, fs.ErrNotExist):
			return 0, 0, saveError(dir, err)
		}
	}
	for i := range all {
		if names[i] == "" {
			continue
		}
		if err := into.MkdirAll(filepath.Dir(names[i]), 0o777); err != nil {
			return files, bytes, saveError(dir, err)
		}
		n, err := all[i].save(ctx, into, names[i])
		if err != nil {
			return files, bytes, fmt.Errorf("saving %s: %w", answer.Printable(all[i].Path), err)
		}
		files, bytes = files+1, bytes+n
	}
	return files, bytes, nil
}

// saveError returns an error about a name in the folder dir.
func saveError(dir string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return answer.InputError("save: %s: %v", filepath.Join(dir, at.Path), at.Err)
	}
	return answer.InputError("save: %s: %v", dir, err)
}

// namesOf returns the relative paths of artifacts in a folder. No path leads out of the folder. The path of an artifact that is not
// stored is empty.
func namesOf(all []Artifact) []string {
	names := make([]string, len(all))
	taken := map[string]bool{}
	for i, a := range all {
		if a.State != ArtifactStored {
			continue
		}
		name := filepath.FromSlash(strings.TrimPrefix(path.Clean("/"+a.Path), "/"))
		if name == "" {
			name = schema.ArtifactFile
			if schema.IsArtifactKind(a.Kind) {
				name = a.Kind
			}
		}
		names[i] = name
		for n := 2; taken[names[i]]; n++ {
			names[i] = fmt.Sprintf("%s~%d", name, n)
		}
		taken[names[i]] = true
	}
	return names
}

// save writes one artifact to a new file in a folder, and removes the file if that fails.
func (a *Artifact) save(ctx context.Context, into *os.Root, name string) (n int64, err error) {
	content, err := a.Open()
	if err != nil {
		return 0, err
	}
	defer content.Close()
	out, err := into.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, until{ctx, content})
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return n, errors.Join(err, into.Remove(name))
	}
	return n, nil
}

// until reads until a context ends.
type until struct {
	ctx context.Context
	io.Reader
}

func (u until) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(b)
}

// Open reads the content of a stored artifact. It reads at most one byte more than the recorded size. At the end the content is compared
// with the size and the hash. A difference is an error that wraps schema.ErrDamaged.
func (a *Artifact) Open() (io.ReadCloser, error) {
	file, err := a.store.OpenFile(a.name)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	stored := bufio.NewReader(io.TeeReader(file, sum))
	c := &content{file: file, stored: stored, of: stored, sum: sum, want: a.SHA256, left: a.Bytes}
	if c.left != nil {
		c.left = new(max(*c.left, 0))
	}
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
	left   *int64 // bytes that it should still have; nil: not known
}

func (c *content) Read(b []byte) (int, error) {
	if c.left != nil && int64(len(b))-1 > *c.left {
		b = b[:*c.left+1]
	}
	n, err := c.of.Read(b)
	if c.left != nil {
		if *c.left -= int64(n); *c.left < 0 {
			return n, fmt.Errorf("%w: it has more bytes than the run says", schema.ErrDamaged)
		}
	}
	switch {
	case errors.Is(err, io.EOF) && c.left != nil && *c.left > 0:
		return n, fmt.Errorf("%w: it has %d bytes less than the run says", schema.ErrDamaged, *c.left)
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
