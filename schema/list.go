package schema

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Listing names the files of a store. List opens no file of runs to make it.
type Listing struct {
	Live   []LiveFile   // runs that are not sealed yet, newest first
	Sealed []SealedFile // the sealed files in the scope, newest id first
	Packs  []SealedFile // all packs, newest id first
	Events Events
}

// Events names the files with events.
type Events struct {
	Files   []ULID // in EventsDir, ascending
	Packs   []ULID // in PacksDir, ascending
	RunSets []ULID // of events of many runs, in PacksDir, ascending
}

// Packed reports whether packs alone have the events, as in a compacted store of a bucket. Then a damaged pack is damage; otherwise it only
// repeats files.
func (e Events) Packed() bool { return len(e.Files) == 0 && len(e.Packs) > 0 }

// Scope limits the sealed files of a listing. The zero Scope has no limit.
type Scope struct {
	Newest int       // only files that can contain one of the Newest newest sealed runs; 0 means no limit
	Since  time.Time // only files that can contain a run of this time or later; the zero time means no limit
}

// attempts limits how often a listing starts again because runs were sealed in the meantime.
const attempts = 100

// errMoved means that something moved from one directory to another during the listing.
var errMoved = errors.New("the store kept changing")

// List reads the header of a store and lists its files. Concurrent writers and sealers cannot hide a run from it, or make
// it list a run twice. Files with other names (owners, temporary files, leftovers of a file manager) are ignored. The
// error wraps ErrNoStore, ErrFormat or ErrDamaged, or is one of the file system.
func List(store fs.FS, scope Scope) (*Listing, error) {
	if _, err := ReadHeader(store); err != nil {
		return nil, err
	}
	for range attempts {
		l, err := listOnce(store, scope)
		if !errors.Is(err, errMoved) {
			return l, err
		}
	}
	return nil, fmt.Errorf("listing: %w during %d attempts; try again", errMoved, attempts)
}

// listOnce lists the store once. A run moves from live/ through claims/ to runs/, and the directories are listed in this order, so each
// run is found at least once. A run that moved all the way in the meantime is also found as a live file. A run that a sealer moves back
// into live/ may not be found: then a segment or a claim is gone at the end, and the listing starts again.
func listOnce(store fs.FS, scope Scope) (*Listing, error) {
	before, err := claims(store)
	if err != nil {
		return nil, err
	}
	segments, err := liveRuns(store, nil)
	if err != nil {
		return nil, err
	}
	claimed, err := claims(store)
	if err != nil {
		return nil, err
	}
	claimedRuns := make([][]LiveFile, len(claimed))
	for i, c := range claimed {
		if claimedRuns[i], err = liveRuns(store, &c); err != nil {
			return nil, err
		}
	}
	l := &Listing{}
	if l.Sealed, err = sealed(store, scope, claimed); err != nil {
		return nil, err
	}
	after, err := names(store, LiveDir)
	if err != nil {
		return nil, err
	}
	if lost(before, claimed) || vanished(segments, after) {
		return nil, errMoved
	}
	for i, c := range claimed {
		at := slices.IndexFunc(l.Sealed, func(f SealedFile) bool { return f.ID == c.ID })
		if at >= 0 {
			if claimedRuns[i], err = unsealed(store, c, claimedRuns[i], l.Sealed[at].Rows); err != nil {
				return nil, err
			}
		}
	}
	if l.Live, err = distinct(slices.Concat(append(claimedRuns, segments)...)); err != nil {
		return nil, err
	}
	if l.Packs, err = months(store, PacksDir, Scope{}); err != nil {
		return nil, err
	}
	l.Events, err = ListEvents(store)
	return l, err
}

// HasFewFiles reports whether a store has at most n files of runs in LiveDir or RunsDir. It reads few more names than n. If a directory
// cannot be read, it returns false: List returns the error.
func HasFewFiles(store fs.FS, zone string, n int) bool {
	dirs, err := unordered(store, zone)
	if err != nil {
		return false
	}
	for _, d := range dirs {
		some, err := someOf(store, path.Join(zone, d.Name()), n+1)
		if n -= len(some); n < 0 || err != nil {
			return false
		}
	}
	return true
}

// names lists a directory in ascending order. A directory that does not exist has no names.
func names(store fs.FS, dir string) ([]string, error) {
	all, err := unordered(store, dir)
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name()
	}
	slices.Sort(names)
	return names, err
}

// plainFiles lists a directory in ascending order and returns the parsed names, except names that parse rejects. All files must be
// regular, so that callers can open them without another check.
func plainFiles[T any](store fs.FS, dir string, parse func(name string) (T, error)) ([]T, error) {
	all, err := unordered(store, dir)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	found := make([]T, 0, len(all))
	for _, e := range all {
		f, err := parse(e.Name())
		if err != nil {
			continue
		}
		if !e.Type().IsRegular() {
			return nil, notPlain(path.Join(dir, e.Name()), e.Type(), false)
		}
		found = append(found, f)
	}
	return found, nil
}

// unordered lists a directory in any order. A directory that does not exist, or disappears during the listing, has no entries. The
// directory contains the types of its entries, so no file is examined.
func unordered(store fs.FS, dir string) ([]fs.DirEntry, error) { return someOf(store, dir, -1) }

// someOf is unordered for up to n entries; -1: all.
func someOf(store fs.FS, dir string, n int) ([]fs.DirEntry, error) {
	opened, err := store.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	d, ok := opened.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: errors.ErrUnsupported}
	}
	all, err := d.ReadDir(n)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	}
	return all, nil
}

// claims lists the claims.
func claims(store fs.FS) ([]Claim, error) {
	found, err := names(store, ClaimsDir)
	if err != nil {
		return nil, err
	}
	var all []Claim
	for _, name := range found {
		if c, err := ParseClaim(name); err == nil {
			all = append(all, c)
		}
	}
	return all, nil
}

// lost reports whether a claim of before is missing in after, in any attempt.
func lost(before, after []Claim) bool {
	return slices.ContainsFunc(before, func(c Claim) bool {
		return !slices.ContainsFunc(after, func(d Claim) bool { return c.ID == d.ID })
	})
}

// liveRuns lists the runs of the segments in LiveDir, or in a claim. It fails with errMoved if the claim or a segment has disappeared.
func liveRuns(store fs.FS, claim *Claim) ([]LiveFile, error) {
	zone := LiveDir
	if claim != nil {
		zone = claim.Path()
	}
	segments, err := names(store, zone)
	if err == nil && len(segments) == 0 && claim != nil {
		err = moved(store, zone)
	}
	if err != nil {
		return nil, err
	}
	var all []LiveFile
	for _, name := range segments {
		segment, err := ParseULID(name)
		if err != nil {
			continue
		}
		dir := path.Join(zone, name)
		runs, err := plainFiles(store, dir, func(run string) (LiveFile, error) { return ParseLiveFile(path.Join(LiveDir, name, run)) })
		if err == nil && len(runs) == 0 {
			err = moved(store, dir)
		}
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			all = append(all, LiveFile{claim, segment, run.Run})
		}
	}
	return all, nil
}

// moved returns errMoved if a directory that existed a moment ago is gone.
func moved(store fs.FS, dir string) error {
	if _, err := fs.Stat(store, dir); errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	return nil
}

// vanished reports whether a segment of files in LiveDir is missing from the current names.
func vanished(files []LiveFile, names []string) bool {
	return slices.ContainsFunc(files, func(f LiveFile) bool {
		_, found := slices.BinarySearch(names, f.Segment.String())
		return !found
	})
}

// unsealed gives the runs of a committed claim that are not in its sealed file: the runs that its plan does not name. If the claim has no
// plan, as after an interrupted copy, these are all its runs. Readers drop each run that the sealed file has too, as they do with all live
// files.
func unsealed(store fs.FS, c Claim, files []LiveFile, rows int) ([]LiveFile, error) {
	if len(files) == rows {
		return nil, nil
	}
	plan, err := ReadPlan(store, c)
	if errors.Is(err, fs.ErrNotExist) {
		return files, moved(store, c.Path())
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(files, func(f LiveFile) bool { return plan.Has(f.Run) }), nil
}

// distinct returns every run once, newest first. A segment that is moved during the listing is found in two places, with the same files:
// distinct keeps the one in the claim, which comes first.
func distinct(files []LiveFile) ([]LiveFile, error) {
	slices.SortStableFunc(files, func(a, b LiveFile) int { return slices.Compare(b.Run[:], a.Run[:]) })
	for i := 1; i < len(files); i++ {
		if a, b := files[i-1], files[i]; a.Run == b.Run && a.Claim == nil && b.Claim == nil && a.Segment != b.Segment {
			return nil, fmt.Errorf("%w: run %s is in two segments", ErrDamaged, a.Run)
		}
	}
	return slices.CompactFunc(files, func(a, b LiveFile) bool { return a.Run == b.Run }), nil
}

// ListEvents lists the files that have the events of a store.
func ListEvents(store fs.FS) (Events, error) {
	var e Events
	var err error
	if e.Files, err = plainFiles(store, EventsDir, ParseEventFile); err != nil {
		return e, err
	}
	if e.Packs, err = plainFiles(store, PacksDir, ParsePackedEvents); err != nil {
		return e, err
	}
	e.RunSets, err = plainFiles(store, PacksDir, ParseRunSetFile)
	return e, err
}

// sealed lists the sealed files in the scope, and always the sealed files of the claims.
func sealed(store fs.FS, scope Scope, claimed []Claim) ([]SealedFile, error) {
	files, err := months(store, RunsDir, scope)
	if err != nil || scope == (Scope{}) {
		return files, err
	}
	for _, c := range claimed {
		found, err := folder(store, path.Join(RunsDir, MonthOf(c.ID.Time())))
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(found, func(f SealedFile) bool { return f.ID == c.ID })
		if at >= 0 && !slices.Contains(files, found[at]) {
			files = append(files, found[at])
		}
	}
	slices.SortFunc(files, newestFirst)
	return files, nil
}

func newestFirst(a, b SealedFile) int {
	return cmp.Or(bytes.Compare(b.ID[:], a.ID[:]), cmp.Compare(a.Rows, b.Rows))
}

// months lists the files of a zone in the scope.
func months(store fs.FS, zone string, scope Scope) ([]SealedFile, error) {
	folders, err := monthFolders(store, zone)
	if err != nil {
		return nil, err
	}
	if scope == (Scope{}) {
		return allMonths(store, zone, folders)
	}
	return lateMonths(store, zone, folders, scope)
}

// monthFolders lists the folders of a zone, latest first.
func monthFolders(store fs.FS, zone string) ([]string, error) {
	folders, err := names(store, zone)
	if err != nil {
		return nil, err
	}
	folders = slices.DeleteFunc(folders, func(month string) bool {
		_, err := time.Parse(monthLayout, month)
		return err != nil
	})
	slices.Reverse(folders)
	return folders, nil
}

// allMonths lists the files of folders, which are in order, latest first. It lists several at the same time, because most of the time is
// spent in the file system.
func allMonths(store fs.FS, zone string, folders []string) ([]SealedFile, error) {
	files, errs := make([][]SealedFile, len(folders)), make([]error, len(folders))
	var next atomic.Int64
	var listing sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(folders)) {
		listing.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(folders); i = int(next.Add(1)) - 1 {
				files[i], errs[i] = folder(store, path.Join(zone, folders[i]))
			}
		})
	}
	listing.Wait()
	return slices.Concat(files...), cmp.Or(errs...)
}

// lateMonths lists the files in a scope, in folders that are in order, latest first. A folder has no run that is later
// than its month, so older folders can be skipped at some point.
func lateMonths(store fs.FS, zone string, folders []string, scope Scope) ([]SealedFile, error) {
	var all []SealedFile
	oldest := "" // month of the oldest wanted run, if known
	if !scope.Since.IsZero() {
		oldest = MonthOf(scope.Since)
	}
	for _, month := range folders {
		if month < oldest {
			break
		}
		files, err := folder(store, path.Join(zone, month))
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
		if since, ok := newest(all, scope.Newest); ok {
			oldest = max(oldest, MonthOf(time.UnixMilli(since)))
		}
	}
	return slices.DeleteFunc(all, outside(all, scope)), nil
}

// outside returns a function that reports whether a file is outside the scope.
func outside(all []SealedFile, scope Scope) func(SealedFile) bool {
	since, bounded := newest(all, scope.Newest)
	return func(f SealedFile) bool {
		return bounded && f.Last < since || !scope.Since.IsZero() && f.Last < scope.Since.UnixMilli()
	}
}

// newest returns a time since which the files have at least n runs. ok is false if they have fewer.
func newest(files []SealedFile, n int) (since int64, ok bool) {
	if n <= 0 {
		return 0, false
	}
	byFirst := slices.SortedFunc(slices.Values(files), func(a, b SealedFile) int { return cmp.Compare(b.First, a.First) })
	for _, f := range byFirst {
		if n -= f.Rows; n <= 0 {
			return f.First, true
		}
	}
	return 0, false
}

// folder lists the sealed files of a folder that count, newest id first.
func folder(store fs.FS, dir string) ([]SealedFile, error) {
	month, err := time.Parse("2006-01", path.Base(dir))
	if err != nil {
		return nil, nil // no file of the folder can be of this month
	}
	from, to := month.UnixMilli(), month.AddDate(0, 1, 0).UnixMilli()
	found, err := plainFiles(store, dir, func(name string) (SealedFile, error) {
		f, err := ParseSealedFile(name)
		if at := f.ID.millis(); err == nil && (at < from || at >= to) {
			err = errors.New("it belongs into the folder of another month")
		}
		return f, err
	})
	slices.SortFunc(found, newestFirst)
	// If two files have the same id, the one with fewer runs is repaired, and the other is about to be removed.
	return slices.CompactFunc(found, func(a, b SealedFile) bool { return a.ID == b.ID }), err
}

// ListZone lists the sealed files of RunsDir, SamplesDir, OpsDir or PacksDir, newest id first. The number of sealed runs is the sum of
// the Rows of the files in RunsDir.
func ListZone(store fs.FS, zone string) ([]SealedFile, error) {
	return months(store, zone, Scope{})
}
