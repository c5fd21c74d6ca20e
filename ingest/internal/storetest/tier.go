package storetest

import "os"

// Tier returns the amount of work, or the step size, of a test: usually, with NEUROLENS_LONG=1 (minutes), and with NEUROLENS_LONG=all (hours).
func Tier(usual, long, all int) int {
	switch {
	case os.Getenv("NEUROLENS_LONG") == "all":
		return all
	case os.Getenv("NEUROLENS_LONG") != "":
		return long
	default:
		return usual
	}
}
