package probe

import (
	"io/fs"
	"os"
)

// systemRoot returns the file tree that holds this system's proc, sys and etc.
func systemRoot() fs.FS { return os.DirFS("/") }
