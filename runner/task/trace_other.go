//go:build !linux

package task

// tracedPeak: only Linux can stop a process where it ends.
func (s *supervisor) tracedPeak(string, []string) (peak int64, reason string) {
	return 0, "unsupported"
}
