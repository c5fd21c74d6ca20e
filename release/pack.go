package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// write writes the archive, a tar file compressed by gzip: files in the order of their names, of user 0, with one date and no other trace of
// the machine.
func (b bundle) write(to io.Writer) error {
	zipped, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	err = filepath.WalkDir(b.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return b.add(archive, path, d)
	})
	return errors.Join(err, archive.Close(), zipped.Close())
}

// add adds a file or a folder.
func (b bundle) add(archive *tar.Writer, name string, d fs.DirEntry) error {
	rel, err := filepath.Rel(b.Dir, name)
	if err != nil {
		return err
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	h := &tar.Header{Name: path.Join(b.Name, filepath.ToSlash(rel)), ModTime: b.Date, Format: tar.FormatPAX}
	if d.IsDir() {
		h.Typeflag, h.Name, h.Mode = tar.TypeDir, h.Name+"/", 0o755
		return archive.WriteHeader(h)
	}
	h.Typeflag, h.Size, h.Mode = tar.TypeReg, info.Size(), 0o644
	if info.Mode()&0o100 != 0 {
		h.Mode = 0o755
	}
	if err := archive.WriteHeader(h); err != nil {
		return err
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(archive, file)
	return errors.Join(err, file.Close())
}
