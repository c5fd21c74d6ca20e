package schema

import (
	"io/fs"
	"syscall"
)

// File systems that change the times of a folder with each change of a name in it, by the clock of this machine. Network file systems
// may answer from a cache, and FUSE file systems of other programs may not keep such times.
const (
	ext4Magic  = 0xef53 // of ext2 and ext3 too
	xfsMagic   = 0x58465342
	btrfsMagic = 0x9123683e
	tmpfsMagic = 0x01021994
)

// timesShowChanges reports whether the file system of a directory gives a folder another time with each change in it.
func timesShowChanges(dir string) bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return false
	}
	switch s.Type {
	case ext4Magic, xfsMagic, btrfsMagic, tmpfsMagic:
		return true
	}
	return false
}

// timesOf returns the times of a folder, and its device.
func timesOf(info fs.FileInfo) (times FolderTimes, device uint64, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FolderTimes{}, 0, false
	}
	return FolderTimes{Inode: s.Ino, Changed: s.Ctim.Nano(), Modified: s.Mtim.Nano()}, s.Dev, true
}
