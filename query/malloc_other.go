//go:build !linux

package query

func keepMemory() {}
