package ingest

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Imported finds runs of imported files in the sealed files of a store, where AppendAll puts them. The runs that it finds are on disk.
// It is for one goroutine. It sees the state of the store at the first lookup, so a caller has to remember the runs that it appends in
// the meantime. It holds the ids of up to four million runs in memory.
type Imported struct {
	files   disk.Files
	listed  bool
	sealed  []schema.SealedFile
	ids     map[schema.SealedFile][]schema.ULID // ascending, of files that were read
	held    int                                 // number of these ids
	last    schema.SealedFile                   // the last file that was read and is not held
	lastIDs []schema.ULID
	synced  map[string]bool // directories
	byBits  []schema.ULID   // ids of all files, by the bytes after their time
	ordered bool
	starts  map[[2]string]map[string][]time.Time // by path and change of a file, and commit of a run; nil until they are asked for
	on      map[string][]string                  // machines, by the path of a file; nil with starts
}

// Imported prepares lookups of imported runs in the store.
func (s *Store) Imported() *Imported {
	return &Imported{files: s.files, ids: map[schema.SealedFile][]schema.ULID{}, synced: map[string]bool{}}
}

// Has reports whether a run is in the store.
func (i *Imported) Has(id schema.ULID) (bool, error) {
	sealed, err := i.find(id)
	return sealed != nil, err
}

// find returns the file that contains a run, or nil if there is none.
func (i *Imported) find(id schema.ULID) (*schema.SealedFile, error) {
	if err := i.list(); err != nil {
		return nil, err
	}
	ms := id.Time().UnixMilli()
	for at := range i.sealed {
		sealed := &i.sealed[at]
		if ms < sealed.First || ms > sealed.Last {
			continue
		}
		ids, err := i.idsOf(*sealed)
		if err != nil {
			return nil, err
		}
		if _, found := slices.BinarySearchFunc(ids, id, schema.ULID.Compare); found {
			return sealed, i.sync(*sealed)
		}
	}
	return nil, nil
}

// After returns the runs whose ids have these bytes after the time.
func (i *Imported) After(begin [5]byte) ([]schema.ULID, error) {
	if err := i.list(); err != nil {
		return nil, err
	}
	if !i.ordered {
		if err := i.order(); err != nil {
			return nil, err
		}
	}
	var found []schema.ULID
	at, _ := slices.BinarySearchFunc(i.byBits, begin, func(id schema.ULID, begin [5]byte) int { return bytes.Compare(random(id)[:len(begin)], begin[:]) })
	for ; at < len(i.byBits) && bytes.HasPrefix(random(i.byBits[at]), begin[:]); at++ {
		found = append(found, i.byBits[at])
	}
	for _, sealed := range i.sealed {
		if _, held := i.ids[sealed]; held {
			continue
		}
		ids, err := i.idsOf(sealed)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if bytes.HasPrefix(random(id), begin[:]) {
				found = append(found, id)
			}
		}
	}
	return found, nil
}

// random returns the part of an id after its time.
func random(id schema.ULID) []byte { return id[6:] }

// order reads all files that fit into memory.
func (i *Imported) order() error {
	for _, sealed := range i.sealed {
		if i.held+sealed.Rows > maxHeld {
			continue
		}
		ids, err := i.idsOf(sealed)
		if err != nil {
			return err
		}
		i.byBits = append(i.byBits, ids...)
	}
	slices.SortFunc(i.byBits, func(a, b schema.ULID) int { return bytes.Compare(random(a), random(b)) })
	i.ordered = true
	return nil
}

// Run returns a stored run with only its session, its point, its facts and its number of samples.
func (i *Imported) Run(id schema.ULID) (r schema.Run, samples int64, err error) {
	sealed, err := i.find(id)
	if sealed == nil || err != nil {
		return r, 0, err
	}
	columns := []string{runfile.RunIDColumn, sessionColumn, pointColumn, samplesColumn, factsColumn}
	err = runfile.EachRow(i.files, *sealed, columns, func(row []any) error {
		if row[runfile.RunIDPlace] != id.String() {
			return nil
		}
		r.RunID = id.String()
		r.SessionID, _ = row[sessionPlace].(string)
		r.PointID, _ = row[pointPlace].(string)
		samples, _ = row[samplesPlace].(int64)
		r.Env.Facts, _ = row[factsPlace].(map[string]string)
		return io.EOF
	})
	return r, samples, err
}

// Starts returns the starts of the runs of a file to which the user gave one, by the commits of the runs. path and changed are the
// values of schema.FactPath and schema.FactChanged.
func (i *Imported) Starts(path, changed string) (map[string][]time.Time, error) {
	err := i.readFiles()
	return i.starts[[2]string{path, changed}], err
}

// Machines returns the machines of the runs of a file. path is the value of schema.FactPath.
func (i *Imported) Machines(path string) ([]string, error) {
	err := i.readFiles()
	return i.on[path], err
}

// readFiles reads starts and on, once.
func (i *Imported) readFiles() error {
	if i.starts != nil {
		return nil
	}
	if err := i.list(); err != nil {
		return err
	}
	on := map[string][]string{}
	starts := map[[2]string]map[string][]time.Time{}
	for _, sealed := range i.sealed {
		foreign := false // most files have no run of another tool, which shows early
		err := runfile.EachRow(i.files, sealed, []string{sourceColumn}, func(row []any) error {
			if foreign = fromFile(row); foreign {
				return io.EOF
			}
			return nil
		})
		if err == nil && foreign {
			err = runfile.EachRow(i.files, sealed, []string{factsColumn, startColumn, commitColumn, machineColumn}, func(row []any) error {
				facts, _ := row[factsPlace].(map[string]string)
				path, machine := facts[schema.FactPath], ""
				if machine, _ = row[machinePlace].(string); machine != "" && path != "" && !slices.Contains(on[path], machine) {
					on[path] = append(on[path], machine)
				}
				at, _ := row[startPlace].(time.Time)
				commit, _ := row[commitPlace].(string)
				file := [2]string{path, facts[schema.FactChanged]}
				if file[1] == "" {
					return nil
				}
				if starts[file] == nil {
					starts[file] = map[string][]time.Time{}
				}
				if !slices.ContainsFunc(starts[file][commit], at.Equal) {
					starts[file][commit] = append(starts[file][commit], at)
				}
				return nil
			})
		}
		if err != nil {
			return err
		}
	}
	i.starts, i.on = starts, on
	return nil
}

// maxNamed is the number of rows of a file up to which Paths looks for runs in it: the paths of all its rows are read.
const maxNamed = 100_000

// Paths returns the known paths of the files from which runs were imported.
func (i *Imported) Paths(ids []schema.ULID) (map[schema.ULID]string, error) {
	paths := map[schema.ULID]string{}
	in := map[schema.SealedFile]bool{}
	for _, id := range ids {
		sealed, err := i.find(id)
		if err != nil {
			return nil, err
		}
		if sealed != nil && sealed.Rows <= maxNamed {
			paths[id], in[*sealed] = "", true
		}
	}
	for sealed := range in {
		err := runfile.EachRow(i.files, sealed, []string{runfile.RunIDColumn, factsColumn}, func(row []any) error {
			text, _ := row[runfile.RunIDPlace].(string)
			if id, err := schema.ParseULID(text); err == nil {
				if _, wanted := paths[id]; wanted {
					facts, _ := row[factsPlace].(map[string]string)
					paths[id] = facts[schema.FactPath]
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return paths, nil
}

func (i *Imported) list() error {
	if i.listed {
		return nil
	}
	sealed, err := schema.ListZone(i.files, schema.RunsDir)
	i.sealed, i.listed = sealed, err == nil
	return err
}

// maxHeld is the number of runs whose ids are held in memory.
const maxHeld = 4 << 20

// idsOf returns the ids of the runs of a file, ascending.
func (i *Imported) idsOf(sealed schema.SealedFile) ([]schema.ULID, error) {
	if ids, held := i.ids[sealed]; held {
		return ids, nil
	}
	if i.last == sealed {
		return i.lastIDs, nil
	}
	ids := make([]schema.ULID, 0, min(sealed.Rows, maxHeld))
	err := runfile.EachRow(i.files, sealed, []string{runfile.RunIDColumn}, func(row []any) error {
		text, _ := row[runfile.RunIDPlace].(string)
		id, err := schema.ParseULID(text)
		if err != nil {
			return fmt.Errorf("%w: %w", schema.ErrDamaged, err)
		}
		ids = append(ids, id)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !slices.IsSortedFunc(ids, schema.ULID.Compare) {
		slices.SortFunc(ids, schema.ULID.Compare)
	}
	if !i.ordered && i.held+len(ids) <= maxHeld {
		i.ids[sealed], i.held = ids, i.held+len(ids)
	} else {
		i.last, i.lastIDs = sealed, ids
	}
	return ids, nil
}

// sync fsyncs the directories of a file in which a run was found, because its writer may have died before that.
func (i *Imported) sync(sealed schema.SealedFile) error {
	dir := path.Dir(sealed.Path(schema.RunsDir))
	if i.synced[dir] {
		return nil
	}
	err := runfile.SyncSealed(i.files, sealed)
	i.synced[dir] = err == nil
	return err
}

// Columns of runs that are read besides the ids.
const (
	sessionColumn = "session_id"
	pointColumn   = "point_id"
	samplesColumn = "n_samples"
	factsColumn   = "env"
	startColumn   = "started_at"
	commitColumn  = "git_commit"
	machineColumn = "machine"
)

var (
	sessionPlace = schema.Runs.Place(sessionColumn)
	pointPlace   = schema.Runs.Place(pointColumn)
	samplesPlace = schema.Runs.Place(samplesColumn)
	factsPlace   = schema.Runs.Place(factsColumn)
	startPlace   = schema.Runs.Place(startColumn)
	commitPlace  = schema.Runs.Place(commitColumn)
	machinePlace = schema.Runs.Place(machineColumn)
)
