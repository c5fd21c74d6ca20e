package scan

import (
	"io/fs"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// file is a file of one of the stores: a live file with one run, a sealed file, or a pack.
type file struct {
	store  int
	folder string            // schema.RunsDir or schema.PacksDir; empty for a live file
	live   schema.LiveFile   // of one run
	sealed schema.SealedFile // of many
	broken bool              // not a regular file, or reached through a link: DuckDB must not open it
}

// span returns the time of the first and of the last run that the file may have, in Unix milliseconds.
func (f *file) span() (first, last int64) {
	if f.folder == "" {
		ms := f.live.Run.Time().UnixMilli()
		return ms, ms
	}
	return f.sealed.First, f.sealed.Last
}

// Sources are the files for a question, from one listing of the stores. A run that is in several of them counts once: see overlay.
type Sources struct {
	Stores     []store
	Listings   []*schema.Listing // of the stores; in the later ones sealed files that an earlier store has are left out
	Live       []file            // one run each, newest first
	sealed     []file            // files of schema.RunsDir; a file that several stores have is listed for the first of them
	Read       []file            // files to read instead of sealed: packs, and sealed files that no pack covers
	RunsByName int               // number of runs by file names, including removed ones
	Events     *EventIndex
	MayLack    bool // runs that events removed may be in no file, so that RunsByName less these may be less than the number of runs
	overlay
	loaded bool // Reader.LoadLive made its table, which is read in place of the live files

	resumedRuns  map[string][]string // see Reader.counted
	lastSessions []string            // ids of the newest sessions, newest first, as far as they were asked for
	footers      *footerChecks       // of the files that are read; nil: not checked
	contents     *contents           // of the files that were read without DuckDB
	other        *Sources            // the sources of the other stores of QueryTwo; nil: none
}

// list lists the files of all runs that started since a time (the zero time: all runs), the packs, and the events.
func (s *Stores) list(since time.Time) (*Sources, error) {
	src := &Sources{Stores: s.dirs, footers: newFooterChecks(), contents: newContents()}
	var events []Event
	known := map[schema.SealedFile]bool{} // by the whole name, because a repaired file keeps the id
	for i, st := range s.dirs {
		dir := schema.Dir(st.path)
		l, err := listSince(dir, since)
		if err != nil {
			return nil, answer.StoreError(st.dir, err)
		}
		covers := make(chan map[schema.ULID][]schema.ULID, 1)
		go func() { covers <- coversOf(dir, l) }()
		more, err := ReadEvents(dir, l.Events)
		read := <-covers
		if err != nil {
			return nil, answer.StoreError(st.dir, err)
		}
		events = append(events, more...)
		src.MayLack = src.MayLack || MayLackRemoved(more, st.created)
		if len(s.dirs) > 1 {
			l.Sealed = slices.DeleteFunc(l.Sealed, func(f schema.SealedFile) bool { return known[f] })
			for _, f := range l.Sealed {
				known[f] = true
			}
		}
		src.Listings = append(src.Listings, l)
		src.add(i, l)
		packs, files := schema.PlanPacks(l, read)
		src.Read = append(src.Read, filesOf(i, schema.PacksDir, packs)...)
		src.Read = append(src.Read, filesOf(i, schema.RunsDir, files)...)
	}
	src.annotate(events)
	if s.withRemoved {
		src.Events.Removed = &RemovedRuns{}
	}
	return src, nil
}

// listSince lists the files since a time, or all files if there are many: packs are only useful for all.
func listSince(dir fs.FS, since time.Time) (*schema.Listing, error) {
	l, err := schema.List(dir, schema.Scope{Since: since})
	if err != nil || since.IsZero() || len(l.Sealed) <= fewFiles || len(l.Packs) == 0 {
		return l, err
	}
	return schema.List(dir, schema.Scope{})
}

// coversOf reads which files the packs of a listing cover, if there are enough files for packs to help. An unreadable pack is ignored,
// because packs only repeat files.
func coversOf(dir fs.FS, l *schema.Listing) map[schema.ULID][]schema.ULID {
	if len(l.Sealed) <= fewFiles {
		return nil
	}
	covers := map[schema.ULID][]schema.ULID{}
	for _, pack := range l.Packs {
		if ids, err := schema.PackCovers(dir, pack); err == nil {
			covers[pack.ID] = ids
		}
	}
	return covers
}

// add adds the live and sealed files of a store.
func (s *Sources) add(store int, l *schema.Listing) {
	for _, f := range l.Live {
		s.Live = append(s.Live, file{store: store, live: f})
	}
	s.sealed = append(s.sealed, filesOf(store, schema.RunsDir, l.Sealed)...)
}

// annotate applies the events of all stores and counts the runs.
func (s *Sources) annotate(events []Event) {
	s.Events = IndexEvents(events)
	if len(s.Stores) > 1 {
		slices.SortStableFunc(s.Live, func(a, b file) int { return CompareIDs(b.live.Run, a.live.Run) })
		s.Live = slices.CompactFunc(s.Live, func(a, b file) bool { return a.live.Run == b.live.Run })
	}
	s.RunsByName = len(s.Live)
	for _, f := range s.sealed {
		s.RunsByName += f.sealed.Rows
	}
}

func filesOf(store int, zone string, sealed []schema.SealedFile) []file {
	files := make([]file, len(sealed))
	for i, f := range sealed {
		files[i] = file{store: store, folder: zone, sealed: f}
	}
	return files
}

// path returns the absolute path of a file.
func (s *Sources) path(f *file) string { return s.Stores[f.store].path + "/" + s.name(f) }

// name returns the path of a file in its store.
func (s *Sources) name(f *file) string {
	if f.folder == "" {
		return f.live.Path()
	}
	return f.sealed.Path(f.folder)
}

// Within returns the sources that may have runs within bounds. Their files may have other runs too.
func (s *Sources) Within(b Period) *Sources {
	if b == (Period{}) {
		return s
	}
	return s.only(func(f *file) bool { return b.Overlap(f.span()) })
}

// Of returns the sources that may have some runs. The runs must not be removed.
func (s *Sources) Of(ids []schema.ULID) *Sources {
	times := make([]int64, len(ids))
	wanted := make(map[schema.ULID]bool, len(ids))
	for i, id := range ids {
		times[i], wanted[id] = id.Time().UnixMilli(), true
	}
	slices.Sort(times)
	narrow := s.only(func(f *file) bool {
		if f.folder == "" {
			return wanted[f.live.Run]
		}
		first, last := f.span()
		at, _ := slices.BinarySearch(times, first)
		return at < len(times) && times[at] <= last
	})
	narrow.removed = ""
	return narrow
}

// only returns the sources with the wanted files. Few sealed files are read in place of packs: reading a row group of a pack takes as long
// as reading some tens of small files.
func (s *Sources) only(wanted func(*file) bool) *Sources {
	narrow := *s
	for _, files := range []*[]file{&narrow.Live, &narrow.sealed, &narrow.Read} {
		*files = wantedOf(*files, wanted)
	}
	const smallFiles = 24
	if len(narrow.sealed) <= smallFiles {
		narrow.Read = narrow.sealed
	}
	return &narrow
}

// wantedOf returns the wanted files; if all are wanted, it returns the same slice. There may be 100,000 of them, so they are counted
// before they are copied.
func wantedOf(all []file, wanted func(*file) bool) []file {
	n := 0
	for i := range all {
		if wanted(&all[i]) {
			n++
		}
	}
	if n == len(all) {
		return all
	}
	some := make([]file, 0, n)
	for i := range all {
		if wanted(&all[i]) {
			some = append(some, all[i])
		}
	}
	return some
}
