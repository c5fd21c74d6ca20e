//go:build !linux

package tune

// Apply changes nothing: only Linux lets a thread have settings that processes inherit.
func (p Process) Apply() (results []Result) {
	const why = "unsupported: only on Linux"
	if p.FixedAddresses {
		results = append(results, Result{Name: ASLR, Missing: why})
	}
	if p.Nice != nil {
		results = append(results, Result{Name: Nice, Missing: why})
	}
	if p.Processors != nil {
		results = append(results, Result{Name: Affinity, Missing: why})
	}
	return results
}

// Try returns what Apply would do.
func (p Process) Try() []Result { return p.Apply() }
