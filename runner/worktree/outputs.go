package worktree

import (
	"io/fs"
	"os"
	"slices"
)

// Outputs are the files into which this process prints. They are no code and no product of a build, although they may be in the working
// tree: neurolens bench sweep.yaml >log.txt.
type Outputs []fs.FileInfo

// OpenOutputs returns the files on which standard output and standard error are open.
func OpenOutputs() (all Outputs) {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil {
			all = append(all, info)
		}
	}
	return all
}

// Has reports whether a file is one of them, by its device and inode.
func (o Outputs) Has(file fs.FileInfo) bool {
	return slices.ContainsFunc(o, func(output fs.FileInfo) bool { return os.SameFile(output, file) })
}
