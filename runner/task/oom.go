package task

import (
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// oomKills is the number of processes of this process's cgroup, or below it, that the kernel killed because memory ran out. The host-wide
// count in /proc/vmstat would include other containers.
func oomKills(root fs.FS) (int64, bool) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(groups) {
		// 0::/path, or 4:memory:/path
		_, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		for _, file := range oomFiles(controllers, group) {
			if text, err := fs.ReadFile(root, file); err == nil {
				if n, ok := oomCount(text); ok {
					return n, true
				}
			}
		}
	}
	return 0, false
}

// oomFiles are where a cgroup's count may be; in a container the group is often the root of the mount.
func oomFiles(controllers, group string) []string {
	mounts, name := []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}, "memory.events"
	if controllers != "" {
		mounts, name = []string{"sys/fs/cgroup/memory"}, "memory.oom_control"
		if controllers != "memory" {
			return nil
		}
	}
	var files []string
	for _, mount := range mounts {
		files = append(files, path.Join(mount, group, name), path.Join(mount, name))
	}
	return files
}

// oomCount finds the line `oom_kill 3`.
func oomCount(text []byte) (int64, bool) {
	for line := range bytes.Lines(text) {
		if number, ok := strings.CutPrefix(string(line), "oom_kill "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}
