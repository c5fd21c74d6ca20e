//go:build !linux

package probe

// queryDriver has no driver to ask.
func queryDriver(string) Devices {
	return Devices{Missing: map[string]string{"gpu": unsupported}}
}

// openMonitor returns a monitor without devices, as queryDriver does.
func openMonitor(string) monitor {
	return monitor{
		state:   func() Devices { return queryDriver("") },
		sources: func([]string) ([]source, map[string]string, bool) { return nil, nil, false },
	}
}
