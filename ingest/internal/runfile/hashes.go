package runfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zstd"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// CheckHash compares a Parquet file with the hash in its metadata.
func CheckHash(f fs.FS, name string) error {
	file, content, size, err := schema.OpenAt(f, name)
	if err != nil {
		return err
	}
	defer file.Close()
	return InFile(name, schema.CheckFileHashAt(content, size))
}

// checkedFile is a Parquet file that matches the hash in its metadata.
type checkedFile struct {
	name    string
	content io.ReaderAt
	size    int64
	file    io.Closer // nil if the content is in memory
}

// wholeSize is the size up to which a file is read into memory at once. Otherwise reading it takes system calls for the
// hash, for the footer and for every page.
const wholeSize = 256 << 10

// openChecked opens a Parquet file and compares it with the hash in its metadata.
func openChecked(f fs.FS, name string) (checkedFile, error) {
	file, content, size, err := schema.OpenAt(f, name)
	if err != nil {
		return checkedFile{}, err
	}
	c := checkedFile{name, content, size, file}
	c.keep()
	if err := InFile(name, schema.CheckFileHashAt(c.content, size)); err != nil {
		return checkedFile{}, errors.Join(err, c.close())
	}
	return c, nil
}

// keep reads a small file into memory and closes it. If that fails, it stays open, and its reader gets the error.
func (c *checkedFile) keep() {
	if c.size > wholeSize {
		return
	}
	whole := make([]byte, c.size)
	if n, _ := c.content.ReadAt(whole, 0); int64(n) < c.size {
		return
	}
	if c.file.Close() == nil {
		c.content, c.file = bytes.NewReader(whole), nil
	}
}

// table opens the rows.
func (c *checkedFile) table(t *schema.Table) (*table.File, error) {
	opened, err := table.Open(c.content, c.size, t)
	return opened, InFile(c.name, err)
}

func (c *checkedFile) close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}

// maxWindow is the memory, in bytes, that reading a zstd frame may take.
const maxWindow = 64 << 20

// ArtifactHas reports whether an artifact has this size, in bytes, when unpacked. It unpacks at most one byte more.
func ArtifactHas(ctx context.Context, f fs.FS, name string, bytes int64) (bool, error) {
	file, err := f.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	if !schema.IsFrame(name) {
		info, err := file.Stat()
		return err == nil && info.Size() == bytes, err
	}
	frame, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow))
	if err != nil {
		return false, err
	}
	defer frame.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(until{ctx, frame}, max(bytes, 0)+1))
	return n == bytes, err
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

// CheckArtifact compares a file with the hash in its name.
func CheckArtifact(f fs.FS, name string) error {
	file, err := f.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != disk.ArtifactHash(name) {
		return fmt.Errorf("%w: its SHA-256 is %s, not its name", schema.ErrDamaged, got)
	}
	return nil
}
