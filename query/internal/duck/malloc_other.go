//go:build !linux

package duck

func keepMemory() {}
