package schema

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// totals lists all sealed files, and one for those of a folder whose names are known. Claims ask for their files one by one.
func totals(store fs.FS, claimed []Claim) ([]SealedFile, error) {
	folders, err := monthFolders(store, RunsDir)
	if err != nil {
		return nil, err
	}
	known := openNames(store, RunsDir, folders)
	defer known.close()
	names := known.total
	if len(claimed) > 0 {
		names = known.in
	}
	return allMonths(store, RunsDir, folders, names)
}

// sealed lists the sealed files in the scope, and always those of the claims.
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
		known := openNames(store, zone, folders)
		defer known.close()
		return allMonths(store, zone, folders, known.in)
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

// allMonths lists the files of folders, which are in order, latest first. Several are listed at the same time, because
// most of the time is spent in the file system. Those whose names are known are not listed.
func allMonths(store fs.FS, zone string, folders []string, known func(month string) ([]SealedFile, bool)) ([]SealedFile, error) {
	files, errs := make([][]SealedFile, len(folders)), make([]error, len(folders))
	var next atomic.Int64
	var listing sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(folders)) {
		listing.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(folders) {
					return
				}
				var ok bool
				if files[i], ok = known(folders[i]); !ok {
					files[i], errs[i] = folder(store, path.Join(zone, folders[i]))
				}
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
	oldest := "" // month of the oldest wanted run, as far as it is known
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

// outside reports which files are not in the scope.
func outside(all []SealedFile, scope Scope) func(SealedFile) bool {
	since, bounded := newest(all, scope.Newest)
	return func(f SealedFile) bool {
		return bounded && f.Last < since || !scope.Since.IsZero() && f.Last < scope.Since.UnixMilli()
	}
}

// newest gives a time since which the files have at least n runs, if they have so many.
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
		return nil, nil // none of its files can be of this month
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

// ListZone lists the sealed files of RunsDir, SamplesDir, OpsDir or PacksDir, newest id first. The number of sealed runs
// is the sum of the Rows of those in RunsDir.
func ListZone(store fs.FS, zone string) ([]SealedFile, error) {
	return months(store, zone, Scope{})
}
