//go:build !linux

package probe

import "runtime"

// architecture names the instruction set of the machine as uname -m does: x86_64, arm64.
func architecture() (string, error) {
	if runtime.GOARCH == "amd64" {
		return "x86_64", nil
	}
	return runtime.GOARCH, nil
}
