package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
)

// store is what tables need to know about a store.
type store struct {
	dir     string // absolute, without links
	files   schema.Dir
	sealed  []schema.SealedFile
	said    schema.Annotations
	live    int // runs that are in no sealed file
	removed []schema.ULID
}

// openStore lists a store. Errors are those of schema.ReadHeader and schema.List, and those of damaged events.
func openStore(dir string) (*store, error) {
	fail := func(err error) (*store, error) { return nil, fmt.Errorf("opening store %s: %w", dir, err) }
	path, err := filepath.EvalSymlinks(dir)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return fail(err)
	}
	s := &store{dir: path, files: schema.Dir(path)}
	if _, err := schema.ReadHeader(s.files); err != nil {
		return fail(err)
	}
	listing, err := schema.List(s.files, schema.Scope{})
	if err != nil {
		return fail(err)
	}
	s.sealed, s.live = listing.Sealed, len(listing.Live)
	slices.SortFunc(s.sealed, func(a, b schema.SealedFile) int { return cmp.Compare(a.Name(), b.Name()) })
	events, err := s.events(listing.Events)
	if err != nil {
		return fail(err)
	}
	s.said = schema.Annotate(events)
	for run := range s.said.Removed {
		if id, err := schema.ParseULID(run); err == nil {
			s.removed = append(s.removed, id)
		}
	}
	return s, nil
}

// events reads the events: from packs, and from files for those that no pack has. A pack that cannot be read
// is ignored if it only repeats files.
func (s *store) events(listed schema.Events) ([]schema.Event, error) {
	var events []schema.Event
	known := map[string]bool{}
	for _, pack := range listed.Packs {
		name := schema.PackedEvents(pack)
		err := schema.ReadPackedEvents(s.files, name, func(line []byte) error {
			e, err := schema.DecodeEvent(line)
			if err == nil && !known[e.EventID] {
				known[e.EventID] = true
				events = append(events, e)
			}
			if err != nil && listed.Packed() {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
		if err != nil && listed.Packed() {
			return nil, err
		}
	}
	for _, id := range listed.Files {
		if known[id.String()] {
			continue
		}
		e, err := schema.ReadEvent(s.files, id)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", schema.EventFile(id), err)
		}
		events = append(events, e)
	}
	return events, nil
}

// source is what a table of Iceberg has to contain.
type source struct {
	name   string
	schema *iceberg.Schema
	files  []string   // paths in the store
	hidden []position // rows of removed runs, by file and row
	tags   []tag      // of the table tags, which has no file in the store
}

// position is a row that a position delete hides; names and ids are those of Iceberg's specification.
type position struct {
	File string `parquet:"file_path,id(2147483546),dict,zstd"`
	Row  int64  `parquet:"pos,id(2147483545)"`
}

// tag is a tag that events set. It has no value if they took it away.
type tag struct {
	RunID string  `parquet:"run_id,id(1),dict,zstd"`
	Key   string  `parquet:"key,id(2),dict,zstd"`
	Value *string `parquet:"value,optional,id(3),dict,zstd"`
}

// sources returns the tables in the order in which they are updated: runs come last, so that a run that a reader sees has its samples.
func (s *store) sources() ([]source, error) {
	var all []source
	for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
		found, err := schema.ListZone(s.files, schema.TableFolders[t])
		if err != nil {
			return nil, err
		}
		named := map[string]bool{}
		for _, f := range found {
			named[f.Name()] = true
		}
		// A file of samples or ops counts only if runs/ has a file with its name.
		counting := slices.DeleteFunc(slices.Clone(s.sealed), func(f schema.SealedFile) bool { return !named[f.Name()] })
		if all, err = s.add(all, t, counting); err != nil {
			return nil, err
		}
	}
	all = append(all, source{name: "tags", schema: tagSchema(), tags: s.tags()})
	return s.add(all, schema.Runs, s.sealed)
}

// add adds a table over sealed files.
func (s *store) add(to []source, t *schema.Table, files []schema.SealedFile) ([]source, error) {
	of := source{name: t.Name, schema: schemaOf(t)}
	for _, f := range files {
		name := f.Path(schema.TableFolders[t])
		hidden, err := s.hiddenIn(name, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		of.files, of.hidden = append(of.files, name), append(of.hidden, hidden...)
	}
	return append(to, of), nil
}

// hiddenIn returns the rows of removed runs in a sealed file. It reads the ids of a file only if the times in its name include a removed run.
func (s *store) hiddenIn(name string, f schema.SealedFile) ([]position, error) {
	within := func(id schema.ULID) bool { ms := id.Time().UnixMilli(); return f.First <= ms && ms <= f.Last }
	if !slices.ContainsFunc(s.removed, within) {
		return nil, nil
	}
	file, at, size, err := schema.OpenAt(s.files, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	parsed, err := parquet.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	column, ok := parsed.Schema().Lookup("run_id")
	if !ok {
		return nil, errors.New("it has no column run_id")
	}
	var all []position
	var row int64
	for _, group := range parsed.RowGroups() {
		err := eachText(group.ColumnChunks()[column.ColumnIndex], func(run string) {
			if s.said.Removed[run] {
				all = append(all, position{name, row})
			}
			row++
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// eachText calls do for each value of a column of texts, in order.
func eachText(chunk parquet.ColumnChunk, do func(string)) (err error) {
	pages := chunk.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	values := make([]parquet.Value, 1024)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for reader := page.Values(); ; {
			n, err := reader.ReadValues(values)
			for _, v := range values[:n] {
				do(string(v.ByteArray()))
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
		}
		parquet.Release(page)
	}
}

// tags returns the tags that events set or took away, of runs that are not removed, by run and key.
func (s *store) tags() []tag {
	var all []tag
	for run, set := range s.said.Tags {
		for key, value := range set {
			all = append(all, tag{run, key, &value})
		}
	}
	for run, keys := range s.said.Untagged {
		for _, key := range keys {
			all = append(all, tag{run, key, nil})
		}
	}
	all = slices.DeleteFunc(all, func(t tag) bool { return s.said.Removed[t.RunID] })
	slices.SortFunc(all, func(a, b tag) int {
		return cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Key, b.Key))
	})
	return all
}
