package probe

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// foreign lists those of some processes that are neither runner nor below it: 12 345, or none. The ids are those that
// the driver gives, which in a container may be ones that mean nothing there: such a process is not runner's.
func foreign(root fs.FS, pids []int, runner int) string {
	var others []string
	pids = slices.Clone(pids)
	slices.Sort(pids)
	for _, pid := range slices.Compact(pids) {
		if !below(root, pid, runner) {
			others = append(others, strconv.Itoa(pid))
		}
	}
	if len(others) == 0 {
		return none
	}
	return strings.Join(others, " ")
}

// below reports whether a process is another one or descends from it.
func below(root fs.FS, pid, ancestor int) bool {
	const deepest = 1000 // ids are used again while they are read: no circle may hold this up
	for range deepest {
		if pid == ancestor {
			return true
		}
		text, err := readText(root, fmt.Sprintf("proc/%d/stat", pid))
		if err != nil {
			return false
		}
		// 12 (name, in which anything may be) S 1 ...
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil || pid <= 0 {
			return false
		}
	}
	return false
}
