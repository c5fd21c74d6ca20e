//go:build !linux

package task

// CanWatch reports whether this system can tell which files a process reads.
const CanWatch = false
