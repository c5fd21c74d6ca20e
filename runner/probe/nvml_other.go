//go:build !linux

package probe

// askDriver has no driver to ask.
func askDriver(string) Devices {
	return Devices{Missing: map[string]string{"gpu": unsupported}}
}

// driverState has none either.
func driverState(string) func() Devices { return func() Devices { return askDriver("") } }
