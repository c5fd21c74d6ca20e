package storetest

import "os"

// Tier gives the amount of work, or the step size, of a test: usually, with NEUROLENS_LONG, and with NEUROLENS_TORTURE,
// which takes very long.
func Tier(usual, long, torture int) int {
	switch {
	case os.Getenv("NEUROLENS_TORTURE") != "":
		return torture
	case os.Getenv("NEUROLENS_LONG") != "":
		return long
	default:
		return usual
	}
}
