package project

import (
	"cmp"
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

// NearestStore returns the store of a project: runs_store in the working directory or, where there is none, in the nearest
// directory above that has one, up to the home directory; else the one that could be made here. Above, only one of the
// same user counts, so that nobody is led to a store that others have put on the way to the root.
func NearestStore(home string) string {
	if _, err := os.Lstat(StoreHere); err == nil { // whatever it is, it is what is meant
		return StoreHere
	}
	return cmp.Or(above(home, storeName, isStore), StoreHere)
}

// above returns the path from the working directory to what has a name in a directory above it, up to the home directory. The nearest one
// counts that passes a test and belongs to the same user. The path is empty if there is none, or if the working directory is not known.
func above(home, name string, counts func(path string) bool) string {
	dir, err := os.Getwd()
	for up := ".."; err == nil && dir != home && filepath.Dir(dir) != dir; up = filepath.Join("..", up) {
		if path := filepath.Join(up, name); counts(path) && isOurs(path) {
			return path
		}
		dir = filepath.Dir(dir)
	}
	return ""
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
