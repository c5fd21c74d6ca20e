//go:build !linux

package duck

func trimMemory() {}
