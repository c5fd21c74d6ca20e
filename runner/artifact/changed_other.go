//go:build !linux

package artifact

import (
	"io/fs"
	"time"
)

// Changed is when a file was changed last.
func Changed(info fs.FileInfo) time.Time { return info.ModTime() }
