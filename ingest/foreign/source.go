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
	"sync/atomic"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Source is a file that the user named, or that is in a named folder.
type Source struct {
	Name  string // as the user knows it
	Named bool   // the user named the file itself, not its folder
	Bytes int64  // 0 if unknown
	Store bool   // a NeuroLens store in a named folder, which is not read

	given   string    // its path in the named folder, or its own name, with slashes; empty if it has none
	root    string    // the folder for side files
	path    string    // in root, with slashes
	stream  io.Reader // for standard input or a pipe, which have no folder
	refused error     // why it is not read
}

// stdinName is the name for standard input.
const stdinName = "-"

// Sources lists the files of paths. Folders are walked in the order of names, without .git. A store in them is listed as
// one source. A path that does not exist is an error.
func Sources(paths []string, stdin io.Reader) ([]Source, error) {
	var all []Source
	for _, p := range paths {
		if p == stdinName {
			if slices.ContainsFunc(all, func(s Source) bool { return s.Name == stdinName }) {
				return nil, errors.New("standard input can be read only once")
			}
			all = append(all, Source{Name: stdinName, Named: true, stream: stdin})
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
			all = append(all, Source{Name: p, Named: true, given: filepath.Base(p), stream: &lazyFile{name: p}})
		}
	}
	return all, nil
}

// cause returns an error of the file system without the path, which the message already has.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// named returns a file that the user named. Its side files may be in its folder or in the parent folder, if that can be
// opened.
func named(name string) (Source, error) {
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return Source{}, fmt.Errorf("%s: %w", name, cause(err))
	}
	dir, file := filepath.Split(real)
	dir = filepath.Clean(dir)
	above := filepath.Dir(dir)
	s := Source{Name: name, Named: true, given: filepath.Base(name)}
	switch {
	case above != dir && opens(above):
		s.root, s.path = above, path.Join(filepath.Base(dir), file)
	case opens(dir):
		s.root, s.path = dir, file
	default: // the folder cannot be listed
		s.stream = &lazyFile{name: real}
	}
	return s, nil
}

func opens(dir string) bool {
	root, err := os.OpenRoot(dir)
	return err == nil && root.Close() == nil
}

func walk(dir string) ([]Source, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, cause(err))
	}
	defer root.Close()
	folder := root.FS()
	if isStore(folder, ".") {
		return nil, fmt.Errorf("%s: %w", dir, errStore)
	}
	var all []Source
	err = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil: // reported when it is opened
			all = append(all, Source{Name: path.Join(filepath.ToSlash(dir), name), root: dir, path: name})
			return fs.SkipDir
		case d.IsDir() && d.Name() == ".git" && name != ".":
			return fs.SkipDir
		case d.IsDir() && isStore(folder, name):
			all = append(all, Source{Name: path.Join(filepath.ToSlash(dir), name), Store: true, refused: errStore})
			return fs.SkipDir
		case d.Type().IsRegular():
			s := Source{Name: path.Join(filepath.ToSlash(dir), name), given: name, root: dir, path: name}
			if info, err := d.Info(); err == nil {
				s.Bytes = info.Size()
			}
			all = append(all, s)
		case d.Type()&fs.ModeSymlink != 0:
			if refused := linkRefused(dir, name); refused != nil {
				all = append(all, Source{Name: path.Join(filepath.ToSlash(dir), name), refused: refused})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, cause(err))
	}
	return all, nil
}

var errStore = errors.New("it is a store: copy its runs with store merge")

// linkRefused returns the reason why a link in a walked folder is not read. It is nil if no report is needed: the target is walked
// anyway, or is a folder, and links to folders are not followed.
func linkRefused(dir, name string) error {
	real, err := filepath.EvalSymlinks(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return cause(err)
	}
	if info, err := os.Stat(real); err != nil || info.IsDir() {
		return cause(err)
	}
	walked, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return cause(err)
	}
	if inside, err := filepath.Rel(absolute(walked), absolute(real)); err != nil || !filepath.IsLocal(inside) {
		return errors.New("it is a link to a file outside the folder: name that file itself")
	}
	return nil
}

// absolute returns an absolute path, or the path itself if the working directory is unknown.
func absolute(name string) string {
	if whole, err := filepath.Abs(name); err == nil {
		return whole
	}
	return name
}

// isStore reports whether a folder is a NeuroLens store, which can be merged but not read as files.
func isStore(folder fs.FS, dir string) bool {
	_, err := fs.Stat(folder, path.Join(dir, schema.HeaderFile))
	return err == nil
}

// Open opens the file. location is the zone of times without one. Reading ends with ctx.
func (s Source) Open(ctx context.Context, location *time.Location) (*Input, error) {
	if s.refused != nil {
		return nil, s.refused
	}
	if s.stream != nil {
		in, err := FromReader(&waiting{ctx: ctx, r: s.stream}, s.Name, location)
		if err == nil {
			in.Given = s.given
		}
		if file, ok := s.stream.(*lazyFile); ok && err == nil {
			in.closers = []io.Closer{file}
		}
		return in, err
	}
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, cause(err)
	}
	in, err := Open(ctx, root.FS(), s.path, location)
	if err != nil {
		root.Close()
		return nil, cause(err)
	}
	in.Name, in.Given, in.closers = s.Name, s.given, append(in.closers, root)
	return in, nil
}

// Beside returns the file at a path in the folder for side files, as if the user had named it in the same way.
func (s Source) Beside(name string) Source {
	rel, err := filepath.Rel(filepath.FromSlash(path.Dir(s.path)), filepath.FromSlash(name))
	if err != nil {
		rel = filepath.FromSlash(path.Base(name))
	}
	b := Source{Name: filepath.Join(filepath.Dir(s.Name), rel), given: path.Base(name), root: s.root, path: name}
	if info, err := os.Stat(filepath.Join(b.root, filepath.FromSlash(name))); err == nil {
		b.Bytes = info.Size()
	}
	return b
}

// Real returns the absolute path of the file, without links. For standard input and pipes it is the name.
func (s Source) Real() string {
	if s.stream != nil {
		return s.Name
	}
	name := absolute(filepath.Join(s.root, filepath.FromSlash(s.path)))
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}

// waiting reads from a stream that may block for a long time, until ctx ends.
type waiting struct {
	ctx    context.Context
	r      io.Reader
	buffer [64 << 10]byte // separate memory, because an abandoned read may end later
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

// lazyFile is opened at the first read, because opening a pipe without a writer blocks.
type lazyFile struct {
	name string
	file atomic.Pointer[os.File] // an abandoned read may run at the same time as Close
}

func (l *lazyFile) Read(p []byte) (int, error) {
	file := l.file.Load()
	if file == nil {
		var err error
		if file, err = os.Open(l.name); err != nil {
			return 0, err
		}
		l.file.Store(file)
	}
	return file.Read(p)
}

func (l *lazyFile) Close() error {
	if file := l.file.Load(); file != nil {
		return file.Close()
	}
	return nil
}
