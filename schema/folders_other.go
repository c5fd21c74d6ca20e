//go:build !linux

package schema

import "io/fs"

// timesShowChanges is false, because it is not known of the file systems of this operating system.
func timesShowChanges(string) bool { return false }

// stateOf gives no state.
func stateOf(fs.FileInfo) (state FolderState, device uint64, ok bool) { return FolderState{}, 0, false }
