package ingest

import "syscall"

// File systems without hard links, by the numbers that statfs gives them.
const (
	msdosMagic = 0x4d44
	exfatMagic = 0x2011bab0
	fuseMagic  = 0x65735546 // some have, some have not
)

// hardLinks tells whether the file system of a directory has hard links, as far as that can be told without trying.
func hardLinks(dir string) *bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || s.Type == fuseMagic {
		return nil
	}
	return new(s.Type != msdosMagic && s.Type != exfatMagic)
}
