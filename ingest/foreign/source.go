package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Source is a file that was named, or stands in a folder that was.
type Source struct {
	Name  string // as people know it
	Named bool   // by itself, not by its folder
	Bytes int64  // 0 where that is not known

	folder fs.FS
	path   string    // in folder
	stream io.Reader // of what is no file: standard input, a pipe
}

// Stdin is the name by which standard input is read.
const Stdin = "-"

// Sources lists the files of paths: folders are walked, in the order of names, without .git and without stores. A path
// that is not there is an error.
func Sources(paths []string, stdin io.Reader) ([]Source, error) {
	var all []Source
	for _, p := range paths {
		if p == Stdin {
			if slices.ContainsFunc(all, func(s Source) bool { return s.Name == Stdin }) {
				return nil, errors.New("standard input can be read once")
			}
			all = append(all, Source{Name: Stdin, Named: true, stream: stdin})
			continue
		}
		info, err := os.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, cause(err))
		}
		switch {
		case info.IsDir():
			inside, err := walk(p)
			if err != nil {
				return nil, err
			}
			all = append(all, inside...)
		case info.Mode().IsRegular():
			s, err := named(p)
			if err != nil {
				return nil, err
			}
			s.Bytes = info.Size()
			all = append(all, s)
		default:
			all = append(all, Source{Name: p, Named: true, stream: lazily(p)})
		}
	}
	return all, nil
}

// cause is an error of the file system without the path, which the message has already.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// named is a file by itself. Its side files may stand in its folder and the one above.
func named(name string) (Source, error) {
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return Source{}, fmt.Errorf("%s: %w", name, cause(err))
	}
	dir := filepath.Dir(real)
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err == nil {
		relative, err := filepath.Rel(filepath.Dir(dir), real)
		if err == nil {
			return Source{Name: name, Named: true, folder: root.FS(), path: filepath.ToSlash(relative)}, nil
		}
	}
	if root, err = os.OpenRoot(dir); err != nil {
		return Source{}, fmt.Errorf("%s: %w", name, cause(err))
	}
	return Source{Name: name, Named: true, folder: root.FS(), path: filepath.Base(real)}, nil
}

func walk(dir string) ([]Source, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, cause(err))
	}
	folder := root.FS()
	if isStore(folder, ".") {
		return nil, fmt.Errorf("%s: it is a store: store merge copies what it has", dir)
	}
	var all []Source
	err = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil: // it is reported where it is opened
			all = append(all, Source{Name: path.Join(filepath.ToSlash(dir), name), folder: folder, path: name})
			return fs.SkipDir
		case d.IsDir() && name != "." && (d.Name() == ".git" || isStore(folder, name)):
			return fs.SkipDir
		case d.Type().IsRegular(), d.Type()&fs.ModeSymlink != 0 && !leadsToFolder(folder, name):
			s := Source{Name: path.Join(filepath.ToSlash(dir), name), folder: folder, path: name}
			if info, err := d.Info(); err == nil {
				s.Bytes = info.Size()
			}
			all = append(all, s)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, cause(err))
	}
	return all, nil
}

func leadsToFolder(folder fs.FS, name string) bool {
	info, err := fs.Stat(folder, name)
	return err == nil && info.IsDir()
}

// isStore tells whether a folder is a store of NeuroLens: those are merged, not read as files.
func isStore(folder fs.FS, dir string) bool {
	_, err := fs.Stat(folder, path.Join(dir, schema.HeaderFile))
	return err == nil
}

// Open opens the file. location is the zone of times that say none. When ctx ends, so does the reading.
func (s Source) Open(ctx context.Context, location *time.Location) (*Input, error) {
	if s.stream != nil {
		return FromReader(&waiting{ctx: ctx, r: s.stream}, s.Name, location)
	}
	in, err := open(ctx, s.folder, s.path, location)
	if err != nil {
		return nil, cause(err)
	}
	in.Name = s.Name
	return in, nil
}

// waiting reads what may have nothing to read for a long time, until ctx ends.
type waiting struct {
	ctx    context.Context
	r      io.Reader
	buffer [64 << 10]byte // read into, as a reading that is given up may end later
}

func (w *waiting) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	part := w.buffer[:min(len(p), len(w.buffer))]
	go func() {
		n, err := w.r.Read(part)
		done <- result{n, err}
	}()
	select {
	case <-w.ctx.Done():
		return 0, w.ctx.Err()
	case r := <-done:
		return copy(p, part[:r.n]), r.err
	}
}

// lazyFile is opened when it is read first: a pipe that nobody writes to yet would wait.
type lazyFile struct {
	name string
	file *os.File
}

func lazily(name string) *lazyFile { return &lazyFile{name: name} }

func (l *lazyFile) Read(p []byte) (int, error) {
	if l.file == nil {
		f, err := os.Open(l.name)
		if err != nil {
			return 0, err
		}
		l.file = f
	}
	return l.file.Read(p)
}
