package project

import (
	"iter"
	"os"
	"path/filepath"
	"syscall"

	"github.com/neurolens/neurolens/schema"
)

// storeName is the name of a store that nobody named, and StoreHere that one in the working directory.
const (
	storeName = "runs_store"
	StoreHere = "." + string(os.PathSeparator) + storeName
)

// NearestStore is the store of a project: runs_store in the working directory or, where there is none, in the nearest
// directory above that has one, up to the home directory; else the one that could be made here. Above, only one of the
// same user counts, so that nobody is led to a store that others have put on the way to the root.
func NearestStore(home string) string {
	if _, err := os.Lstat(StoreHere); err == nil { // whatever it is, it is what is meant
		return StoreHere
	}
	for above := range foldersAbove(home) {
		if path := filepath.Join(above, storeName); isStore(path) && isOurs(path) {
			return path
		}
	}
	return StoreHere
}

// foldersAbove are the directories above the working directory up to the home directory, the nearest first, as paths from
// it. There are none where the working directory is not known.
func foldersAbove(home string) iter.Seq[string] {
	return func(yield func(string) bool) {
		dir, err := os.Getwd()
		for path := ".."; err == nil && dir != home && filepath.Dir(dir) != dir; path = filepath.Join("..", path) {
			if !yield(path) {
				return
			}
			dir = filepath.Dir(dir)
		}
	}
}

func isStore(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, schema.HeaderFile))
	return err == nil && info.Mode().IsRegular()
}

func isOurs(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Geteuid()
}
