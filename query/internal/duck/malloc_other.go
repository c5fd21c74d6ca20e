//go:build !linux

package duck

func keepMemory() {}

func trimMemory() {}
