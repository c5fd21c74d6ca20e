package schema

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// laterZones are directories that later versions of format 0 fill with runs. Passing over them in silence would lose
// runs.
var laterZones = []string{"claims", "runs", "samples", "ops", "packs", "events"}

// List reads the header of a store and names the files of all its runs, newest first (by the time in the run's id,
// then by id). It opens no run. A file that is no run's (owner files, temporary files) is passed over. The error
// wraps ErrNoStore, ErrFormat, ErrDamaged, or is one of the file system.
func List(store fs.FS) ([]LiveFile, error) {
	if _, err := ReadHeader(store); err != nil {
		return nil, err
	}
	for _, zone := range laterZones {
		entries, err := fs.ReadDir(store, zone)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if len(entries) > 0 {
			return nil, fmt.Errorf("%w: %s/ was written by a later version", ErrFormat, zone)
		}
	}
	files, err := listLive(store)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b LiveFile) int { return -compareRuns(a, b) })
	for i := 1; i < len(files); i++ {
		if files[i].Run == files[i-1].Run {
			return nil, fmt.Errorf("%w: run %s stands in two segments", ErrDamaged, files[i].Run)
		}
	}
	return files, nil
}

func compareRuns(a, b LiveFile) int {
	return cmp.Or(slices.Compare(a.Run[:], b.Run[:]), slices.Compare(a.Segment[:], b.Segment[:]))
}

func listLive(store fs.FS) ([]LiveFile, error) {
	segments, err := fs.ReadDir(store, LiveDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []LiveFile
	for _, segment := range segments {
		entries, err := fs.ReadDir(store, LiveDir+"/"+segment.Name())
		if err != nil && segment.IsDir() {
			return nil, err
		}
		for _, e := range entries {
			if f, err := ParseLiveFile(LiveDir + "/" + segment.Name() + "/" + e.Name()); err == nil {
				files = append(files, f)
			}
		}
	}
	return files, nil
}
