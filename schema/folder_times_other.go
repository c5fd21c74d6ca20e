//go:build !linux

package schema

import "io/fs"

// timesShowChanges returns false: the behaviour of the file systems of this operating system is not known.
func timesShowChanges(string) bool { return false }

// timesOf returns no times.
func timesOf(fs.FileInfo) (times FolderTimes, device uint64, ok bool) { return FolderTimes{}, 0, false }
