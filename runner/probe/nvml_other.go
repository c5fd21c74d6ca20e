//go:build !linux

package probe

// queryDriver has no driver to ask.
func queryDriver(string) Devices {
	return Devices{Missing: map[string]string{"gpu": unsupported}}
}

// driverState returns a function without devices, as queryDriver does.
func driverState(string) func() Devices { return func() Devices { return queryDriver("") } }
