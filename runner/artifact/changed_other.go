//go:build !linux

package artifact

import (
	"io/fs"
	"time"
)

// changed is when a file was changed last.
func changed(info fs.FileInfo) time.Time { return info.ModTime() }
