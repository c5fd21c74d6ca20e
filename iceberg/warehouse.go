package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
)

// tablesDir is the folder of the tables in a store, which ignores it.
const tablesDir = "iceberg"

// warehouse is the tables of a store, in the layout of Iceberg's Hadoop catalog: the metadata of each version is a file vN.metadata.json,
// and version-hint.text has the latest N. It is the catalog of its tables.
type warehouse struct {
	rooted
	lock *os.File
}

// plainLocation matches locations in which no reader escapes a character, or takes one for an escape.
var plainLocation = regexp.MustCompile(`^[a-z][a-z0-9]*://[A-Za-z0-9._~@+=,/-]+$`)

// openWarehouse locks the tables of a store for one process. Engines find the store at the location, a URL or an absolute path.
func openWarehouse(dir, location string) (*warehouse, error) {
	if location == "" {
		location = dir
	}
	location = strings.TrimRight(location, "/")
	if strings.HasPrefix(location, "/") {
		location = "file://" + location
	}
	if !plainLocation.MatchString(location) {
		return nil, fmt.Errorf("the location %q: want an absolute path or a URL such as s3://bench/compact, of letters, digits and . _ ~ @ + = , - alone: readers escape others in different ways", location)
	}
	tables := filepath.Join(dir, tablesDir)
	if err := os.MkdirAll(tables, 0o777); err != nil {
		return nil, err
	}
	lock, err := os.Open(tables)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: another process updates the tables: %w", tables, err), lock.Close())
	}
	return &warehouse{rooted{dir, location}, lock}, nil
}

func (w *warehouse) close() error { return w.lock.Close() }

// metadataPath returns the path of a file with metadata of a table in the store.
func metadataPath(name, file string) string { return tablesDir + "/" + name + "/metadata/" + file }

func versionFile(n int) string { return fmt.Sprintf("v%d.metadata.json", n) }

// latest returns the latest version of a table, or 0 if there is no such table.
func (w *warehouse) latest(name string) (int, error) {
	entries, err := os.ReadDir(filepath.Join(w.dir, metadataPath(name, "")))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	last := 0
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), "v")
		text, also := strings.CutSuffix(text, ".metadata.json")
		if n, err := strconv.Atoi(text); ok && also && err == nil {
			last = max(last, n)
		}
	}
	return last, nil
}

// LoadTable reads the latest version of a table, whose identifier is its name.
func (w *warehouse) LoadTable(ctx context.Context, name table.Identifier) (*table.Table, error) {
	n, err := w.latest(name[0])
	if err != nil {
		return nil, err
	}
	return table.NewFromLocation(ctx, name, w.url(metadataPath(name[0], versionFile(n))), w.open, w)
}

// CommitTable writes the next version of a table. Nobody else writes one meanwhile: the tables are locked.
func (w *warehouse) CommitTable(ctx context.Context, name table.Identifier, requirements []table.Requirement, updates []table.Update) (table.Metadata, string, error) {
	current, err := w.LoadTable(ctx, name)
	if err != nil {
		return nil, "", err
	}
	for _, r := range requirements {
		if err := r.Validate(current.Metadata()); err != nil {
			return nil, "", err
		}
	}
	next, err := table.UpdateTableMetadata(current.Metadata(), updates, current.MetadataLocation())
	if err != nil {
		return nil, "", err
	}
	location, err := w.write(name[0], next)
	return next, location, err
}

// create makes a table without rows. Its columns keep their ids, which a catalog would number anew.
func (w *warehouse) create(name string, columns *iceberg.Schema) error {
	b, err := table.NewMetadataBuilder(2)
	if err != nil {
		return err
	}
	err = errors.Join(b.SetUUID(uuid.New()), b.AddSchema(columns), b.SetCurrentSchemaID(-1), b.AddPartitionSpec(iceberg.UnpartitionedSpec, true), b.SetDefaultSpecID(-1),
		b.AddSortOrder(&table.UnsortedSortOrder), b.SetDefaultSortOrderID(-1), b.SetLoc(w.url(tablesDir+"/"+name)),
		// An engine that expires snapshots or drops the table must not delete the files of the store.
		b.SetProperties(iceberg.Properties{"gc.enabled": "false"}))
	if err != nil {
		return err
	}
	metadata, err := b.Build()
	if err != nil {
		return err
	}
	_, err = w.write(name, metadata)
	return err
}

// write writes the next version of a table, and then names it in the hint. It returns the location of the version.
func (w *warehouse) write(name string, metadata table.Metadata) (string, error) {
	n, err := w.latest(name)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(metadata)
	if err != nil {
		return "", err
	}
	next := metadataPath(name, versionFile(n+1))
	if err := w.replace(next, text); err != nil {
		return "", err
	}
	return w.url(next), w.replace(metadataPath(name, "version-hint.text"), strconv.AppendInt(nil, int64(n+1), 10))
}

// replace writes a file as a whole.
func (w *warehouse) replace(path string, content []byte) error {
	path = filepath.Join(w.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	part := path + ".part"
	if err := os.WriteFile(part, content, 0o666); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// isHere reports an error if a table was made for another location: its metadata has whole paths.
func (w *warehouse) isHere(name string) error {
	text, err := os.ReadFile(filepath.Join(w.dir, metadataPath(name, versionFile(1))))
	if err != nil {
		return err
	}
	var made struct{ Location string }
	if err := json.Unmarshal(text, &made); err != nil {
		return err
	}
	if want := w.url(tablesDir + "/" + name); made.Location != want {
		return fmt.Errorf("its location is %s, not %s", made.Location, want)
	}
	return nil
}

// size returns the size of a file in bytes.
func (w *warehouse) size(location string) (int64, error) {
	path, err := w.path(location)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// rooted is the files of a store, by the names that they have at its location.
type rooted struct{ dir, location string }

// url returns the name of a file at the location, given its path in the store.
func (r rooted) url(path string) string { return r.location + "/" + path }

func (r rooted) open(context.Context) (iceio.IO, error) { return r, nil }

func (r rooted) path(name string) (string, error) {
	path, ok := strings.CutPrefix(name, r.location+"/")
	if !ok || !filepath.IsLocal(path) {
		return "", &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("it is not below %s: %w", r.location, fs.ErrInvalid)}
	}
	return filepath.Join(r.dir, path), nil
}

// Open opens a file.
func (r rooted) Open(name string) (iceio.File, error) {
	path, err := r.path(name)
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Create creates a file of a table, and its folder.
func (r rooted) Create(name string) (iceio.FileWriter, error) {
	path, err := r.path(name)
	if err != nil {
		return nil, err
	}
	return iceio.LocalFS{}.Create(path)
}

// WriteFile writes a file of a table, and its folder.
func (r rooted) WriteFile(name string, content []byte) error {
	path, err := r.path(name)
	if err != nil {
		return err
	}
	return iceio.LocalFS{}.WriteFile(path, content)
}

// Remove removes a file that a failed commit left. It removes no file of the store.
func (r rooted) Remove(name string) error {
	path, err := r.path(name)
	if err == nil && !strings.HasPrefix(path, filepath.Join(r.dir, tablesDir)+string(filepath.Separator)) {
		err = &fs.PathError{Op: "remove", Path: name, Err: fs.ErrPermission}
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}
