package storetest

import "os"

// Tier gives how much a test does, or by how much it steps: usually, where NEUROLENS_LONG asks for the whole of it, and
// where NEUROLENS_TORTURE asks for what takes longer than anybody waits for.
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
