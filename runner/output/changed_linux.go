package output

import (
	"io/fs"
	"syscall"
	"time"
)

// ChangedAt returns when a file was changed last: no program can set that, as it can the time of modification.
func ChangedAt(info fs.FileInfo) time.Time {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(stat.Ctim.Unix())
	}
	return info.ModTime()
}
