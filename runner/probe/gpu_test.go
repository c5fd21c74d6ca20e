package probe

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"
)

func TestChildThatMisbehaves(t *testing.T) {
	for how, want := range map[string]string{
		"nothing": unsupported, "garbage": unsupported, "foreign": unsupported,
	} {
		if devices := queryChild(t.Context(), "misbehave", how); devices.Missing["gpu"] != want || len(devices.Facts) > 0 {
			t.Errorf("%s: %v, want %s", how, devices, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if devices := queryChild(ctx, "misbehave", "hang"); devices.Missing["gpu"] != timeout {
		t.Errorf("hang: %v, want %s", devices, timeout)
	}
}

func TestMainLeavesOtherArgumentsAlone(t *testing.T) {
	for _, argv := range [][]string{nil, {"bench"}, {"ls", role}} {
		if _, handled := Main(argv); handled {
			t.Errorf("%v was taken", argv)
		}
	}
}

func TestNoDriver(t *testing.T) {
	if _, err := os.Stat("/proc/driver/nvidia"); err == nil {
		t.Skip("there is a driver")
	}
	want := absent
	if runtime.GOOS != "linux" {
		want = unsupported
	}
	if devices := GPU(t.Context()); devices.Missing["gpu"] != want || len(devices.Facts) > 0 {
		t.Errorf("got %v, want %s", devices, want)
	}
}
