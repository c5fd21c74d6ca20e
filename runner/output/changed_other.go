//go:build !linux

package output

import (
	"io/fs"
	"time"
)

// ChangedAt returns when a file was changed last.
func ChangedAt(info fs.FileInfo) time.Time { return info.ModTime() }
