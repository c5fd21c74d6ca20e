package runfile

import (
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// The approximate memory that reading a sealed file takes: a minimum, and a part that grows with its rows until a page of
// each column is in memory.
const (
	fileMemory  = 320 << 10
	rowMemory   = 1 << 10
	pagesMemory = 12 << 20
)

func memoryOf(f schema.SealedFile) int { return fileMemory + min(f.Rows*rowMemory, pagesMemory) }

// Overlapping returns the largest memory that files, which are in the order of their first runs, take at the same time while
// their runs are merged. Only the time range and the number of rows of a file matter.
func Overlapping(files []schema.SealedFile) int {
	peak, now := 0, 0
	open := files[:0:0]
	for _, f := range files {
		open = slices.DeleteFunc(open, func(o schema.SealedFile) bool {
			over := o.Last < f.First
			if over {
				now -= memoryOf(o)
			}
			return over
		})
		open = append(open, f)
		now += memoryOf(f)
		peak = max(peak, now)
	}
	return peak
}

// Batches divides files so that each part fits into memory, or has two files. It returns the length of each part.
func Batches(files []schema.SealedFile, memory int) []int {
	var lengths []int
	length, size := 0, 0
	for _, f := range files {
		size += memoryOf(f)
		if size > memory && length >= 2 {
			lengths = append(lengths, length)
			length, size = 0, memoryOf(f)
		}
		length++
	}
	return append(lengths, length)
}
