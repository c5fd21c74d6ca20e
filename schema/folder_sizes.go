package schema

import (
	"io/fs"
	"path"
	"time"
)

// FolderSize is the number and the size of the files in a folder of sealed files.
type FolderSize struct {
	Folder string `json:"folder"` // its path in the store
	FolderTimes
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// StableSizes measures those folders of sealed files that StableFolders would give, of every table. It leaves out those that have anything
// but sealed files.
func StableSizes(store fs.FS, now time.Time) ([]FolderSize, error) {
	of, ok := statesOf(store)
	if !ok {
		return nil, nil
	}
	var all []FolderSize
	for _, zone := range []string{RunsDir, SamplesDir, OpsDir} {
		folders, err := monthFolders(store, zone)
		if err != nil {
			return nil, err
		}
		for _, month := range folders {
			folder := path.Join(zone, month)
			times, ok := of.times(folder)
			if !ok || !times.stable(month, now) {
				continue
			}
			size, ok := sizeOf(store, folder)
			if after, still := of.times(folder); ok && still && after == times {
				size.FolderTimes = times
				all = append(all, size)
			}
		}
	}
	return all, nil
}

// sizeOf measures a folder, if it has sealed files alone.
func sizeOf(store fs.FS, folder string) (FolderSize, bool) {
	size := FolderSize{Folder: folder}
	entries, err := unordered(store, folder)
	if err != nil {
		return size, false
	}
	for _, e := range entries {
		info, err := e.Info()
		if _, named := ParseSealedFile(e.Name()); named != nil || err != nil || !info.Mode().IsRegular() {
			return size, false
		}
		size.Files, size.Bytes = size.Files+1, size.Bytes+info.Size()
	}
	return size, true
}

// KnownSizes gives a function that gives the size of a folder of sealed files, if a writer has measured the folder and it has not changed
// since.
func KnownSizes(store fs.FS) func(folder string) (FolderSize, bool) {
	known := openNames(store, RunsDir, nil)
	defer known.close()
	return func(folder string) (FolderSize, bool) {
		if known == nil {
			return FolderSize{}, false
		}
		size, ok := known.sizes[folder]
		if !ok {
			return FolderSize{}, false
		}
		if times, ok := known.states.times(folder); !ok || times != size.FolderTimes {
			return FolderSize{}, false
		}
		return size, true
	}
}
