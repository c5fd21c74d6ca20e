package schema

import (
	"fmt"
	"io/fs"
	"path"
	"time"
)

// FolderTimes show whether a folder has changed. The file system changes the times with each name that is added, removed or replaced.
type FolderTimes struct {
	Inode    uint64 `json:"inode,string"`
	Changed  int64  `json:"changed"`  // when its status changed, in Unix nanoseconds
	Modified int64  `json:"modified"` // when its content changed
}

// FolderSize is the number and the size of the files in a folder of sealed files.
type FolderSize struct {
	Folder string `json:"folder"` // its path in the store
	FolderTimes
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// folderSizes is the first line of a file of folder sizes. Earlier versions also listed folders there whose names they wrote after the
// line. This version ignores these names, and earlier versions accept a file without names.
type folderSizes struct {
	Folders []struct{}   `json:"folders"`
	Sizes   []FolderSize `json:"sizes"`
}

// stableAfter is how long a folder must have been unchanged before its size is kept. It is much longer than the time resolution of file
// systems, so that a later change gives another time.
const stableAfter = time.Minute

// maxFolder limits the files and the bytes of a folder, so that their sums do not overflow.
const maxFolder = 1 << 48

// folders reads the times of the folders of a store.
type folders struct {
	store  fs.FS
	device uint64 // of RunsDir
}

// foldersOf returns false if the times of folders do not show on this file system whether a folder has changed.
func foldersOf(store fs.FS) (folders, bool) {
	dir, ok := store.(interface {
		DirPath(name string) (string, error)
	})
	if !ok {
		return folders{}, false
	}
	where, err := dir.DirPath(RunsDir)
	if err != nil || !timesShowChanges(where) {
		return folders{}, false
	}
	info, err := fs.Stat(store, RunsDir)
	if err != nil {
		return folders{}, false
	}
	_, device, ok := timesOf(info)
	return folders{store, device}, ok
}

// times returns the times of a folder, if it is on the file system of RunsDir.
func (f folders) times(folder string) (FolderTimes, bool) {
	info, err := fs.Stat(f.store, folder)
	if err != nil || !info.IsDir() {
		return FolderTimes{}, false
	}
	times, device, ok := timesOf(info)
	return times, ok && device == f.device
}

// stable reports whether a folder of a month that is over has not changed for a while.
func (t FolderTimes) stable(month string, now time.Time) bool {
	return month < MonthOf(now) && now.Sub(time.Unix(0, max(t.Changed, t.Modified))) >= stableAfter
}

// StableSizes returns the sizes of the folders of sealed files, of every table, whose month is over and that have not changed for a
// while. It leaves out folders that contain other files, and all folders on file systems where times do not show changes. fresh is the
// number of files in folders whose sizes KnownSizes does not have.
func StableSizes(store fs.FS, now time.Time) (all []FolderSize, fresh int, err error) {
	of, ok := foldersOf(store)
	if !ok {
		return nil, 0, nil
	}
	known := KnownSizes(store)
	for _, zone := range []string{RunsDir, SamplesDir, OpsDir} {
		months, err := monthFolders(store, zone)
		if err != nil {
			return nil, 0, err
		}
		for _, month := range months {
			folder := path.Join(zone, month)
			times, ok := of.times(folder)
			if !ok || !times.stable(month, now) {
				continue
			}
			size, is := known(folder)
			if !is {
				if size, ok = sizeOf(store, folder); !ok {
					continue
				}
				size.FolderTimes = times
				fresh += size.Files
			}
			if after, ok := of.times(folder); ok && after == size.FolderTimes { // nothing changed meanwhile
				all = append(all, size)
			}
		}
	}
	return all, fresh, nil
}

// sizeOf measures a folder if it contains only sealed files.
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

// EncodeFolderSizes prints the content of a file of folder sizes: a signed line of JSON.
func EncodeFolderSizes(sizes []FolderSize) ([]byte, error) {
	line, err := SignJSON(folderSizes{[]struct{}{}, sizes})
	if err != nil {
		return nil, fmt.Errorf("encoding the sizes of folders: %w", err)
	}
	return line, nil
}

// ReadFolderSizes reads a file of folder sizes. The error wraps ErrDamaged, or is one of the file system.
func ReadFolderSizes(store fs.FS, id ULID) ([]FolderSize, error) {
	file, at, size, err := OpenAt(store, FolderSizesFile(id))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	line, err := firstLine(at, size)
	if err != nil {
		return nil, err
	}
	var content folderSizes
	if err := ReadSignedJSON(line, &content); err != nil {
		return nil, err
	}
	if len(content.Folders) == 0 && int64(len(line)) != size {
		return nil, fmt.Errorf("%w: it has more than one line", ErrDamaged)
	}
	for _, s := range content.Sizes {
		if s.Files < 0 || s.Bytes < 0 || s.Files > maxFolder || s.Bytes > maxFolder {
			return nil, fmt.Errorf("%w: the size of %s is %d bytes in %d files", ErrDamaged, s.Folder, s.Bytes, s.Files)
		}
	}
	return content.Sizes, nil
}

// KnownSizes returns a function that gives the size of a folder of sealed files, if a writer has measured the folder and it has not changed
// since. The file of sizes is derived, so one that cannot be read means that no size is known.
func KnownSizes(store fs.FS) func(folder string) (FolderSize, bool) {
	sizes := map[string]FolderSize{}
	entries, _ := unordered(store, PacksDir)
	var latest ULID
	for _, e := range entries {
		if id, err := ParseFolderSizesFile(e.Name()); err == nil && id.Compare(latest) > 0 {
			latest = id
		}
	}
	of, ok := foldersOf(store)
	if ok && latest != (ULID{}) {
		all, _ := ReadFolderSizes(store, latest)
		for _, size := range all {
			sizes[size.Folder] = size
		}
	}
	return func(folder string) (FolderSize, bool) {
		if size, ok := sizes[folder]; ok {
			if times, there := of.times(folder); there && times == size.FolderTimes {
				return size, true
			}
		}
		return FolderSize{}, false
	}
}
