//go:build !linux

package probe

// askDriver has no driver to ask.
func askDriver(string) Devices {
	return Devices{Missing: map[string]string{"gpu": unsupported}}
}
