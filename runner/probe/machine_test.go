package probe

import (
	"context"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestFingerprint(t *testing.T) {
	const gib = 1 << 30
	h100 := "NVIDIA H100 80GB HBM3"
	for _, c := range []struct {
		cpu, cores string
		memory     int64
		devices    []string
		want       string // without the digits
	}{
		{"AMD EPYC 7B13 64-Core Processor", "2", 15*gib + gib/2, nil, "epyc-7b13-2c-16g"},
		{"13th Gen Intel(R) Core(TM) i9-13900K", "24", 62 * gib, nil, "core-i9-13900k-24c-64g"},
		{"Intel(R) Xeon(R) Platinum 8480+ CPU @ 2.00GHz", "112", 1007 * gib, []string{h100, h100}, "xeon-platinum-8480-112c-1024g-2xh100-80gb-hbm3"},
		{"AMD Ryzen 7 7840U with Radeon 780M Graphics", "8", 27 * gib, []string{"Tesla T4", h100}, "ryzen-7-7840u-8c-28g-1xtesla-t4-1xh100-80gb-hbm3"},
		{"---", "1", 1, nil, "unknown-1c-1g"},
	} {
		got := fingerprint(c.cpu, c.cores, c.memory, c.devices)
		valuetest.DeepEqual(t, got[:len(got)-9], c.want, c.cpu, got)
	}
	if got, want := fingerprint("AMD EPYC", "2", 24*gib, []string{h100}), "epyc-2c-24g-1xh100-80gb-hbm3-"+goldenDigits; got != want {
		t.Errorf("fingerprint changed: %s, want %s", got, want)
	}
	if fingerprint("AMD EPYC", "2", gib, nil) == fingerprint("AMD  EPYC", "2", gib, nil) {
		t.Error("names that shorten to one word have one fingerprint")
	}
}

// goldenDigits are the first 8 of sha256sum of "v1\nAMD EPYC\n2\n24\nNVIDIA H100 80GB HBM3".
const goldenDigits = "a4f9e1c3"

func TestMemoryClassForgivesReservedMemory(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct{ visible, want int64 }{
		{15400, 16},
		{15990, 16},
		{16384, 16},
		{24105, 24},
		{24576, 24},
		{18432, 18},
		{36864, 36},
		{515000, 512},
		{772000, 768},
		{1900, 2},
		{500, 1},
	} {
		valuetest.DeepEqual(t, memoryClass(c.visible*mib), c.want, c.visible)
	}
}

func TestMachineIsOnlyNamedWhenItsPartsAreKnown(t *testing.T) {
	for _, c := range []struct {
		name    string
		devices Devices
		machine string // its beginning
		why     string
	}{
		{"", Devices{Missing: map[string]string{"gpu": absent}}, "epyc-7b13-4c-16g-", ""},
		{"", Devices{Missing: map[string]string{"gpu": timeout}}, "", timeout},
		{"", Devices{Missing: map[string]string{"gpu.count": permission}}, "", permission},
		{"", Devices{Facts: map[string]string{"gpu.0.name": "T4"}, Missing: map[string]string{"gpu.0.mig": unsupported}}, "epyc-7b13-4c-16g-1xt4-", ""},
		{"", Devices{Facts: map[string]string{"gpu.0.name": "T4"}, Missing: map[string]string{"gpu.1": unsupported}}, "", unsupported},
		{"lab3", Devices{Missing: map[string]string{"gpu": timeout}}, "lab3", ""},
	} {
		env := Read(t.Context(), Options{
			Root: tree(server), Dir: t.TempDir(), Machine: c.name,
			GPU: func(context.Context) Devices { return c.devices },
		})
		if !strings.HasPrefix(env.Machine, c.machine) || env.Missing["machine"] != c.why || (env.Machine == "") != (c.machine == "") {
			t.Errorf("%q with %v: machine %q, missing %q", c.name, c.devices, env.Machine, env.Missing["machine"])
		}
	}
	env := Read(t.Context(), Options{Root: tree(server), Dir: t.TempDir()})
	if env.Machine != "" || env.Missing["gpu"] != unsupported {
		t.Errorf("GPUs not looked for: machine %q, gpu %q", env.Machine, env.Missing["gpu"])
	}
}

// saltedID are the first 32 digits of sha256sum of "neurolens host 1\n0123456789abcdef0123456789abcdef".
const saltedID = "4aa14b352aa4c0eeb71a4deacddb22c1"

func TestHostID(t *testing.T) {
	valuetest.DeepEqual(t, valuetest.Must(hostID(tree(server))), saltedID)
	for _, text := range []string{"", "uninitialized\n"} {
		if id, err := hostID(tree(map[string]string{"etc/machine-id": text})); err == nil || reason(err) != absent {
			t.Errorf("machine-id %q: %s, %v", text, id, err)
		}
	}
	old, err := hostID(tree(map[string]string{"var/lib/dbus/machine-id": "0123456789abcdef0123456789abcdef"}))
	if err != nil || old != saltedID {
		t.Errorf("from D-Bus: %s, %v", old, err)
	}
}
