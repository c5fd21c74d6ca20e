//go:build !linux

package task

import "errors"

// tracedPeak: only Linux can stop a process where it ends.
func (s *supervisor) tracedPeak(string, []string) (peak int64, err error) {
	return 0, errors.ErrUnsupported
}
