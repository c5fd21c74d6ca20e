package device

import (
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// machine has GPUs of the given models, with the UUIDs GPU-a0, GPU-b1, ...
func machine(models ...string) schema.Env {
	env := schema.Env{GPUCount: new(int64(len(models))), Facts: map[string]string{}}
	for i, model := range models {
		digit := string(rune('0' + i))
		env.Facts["gpu."+digit+".name"] = model
		env.Facts["gpu."+digit+".uuid"] = "GPU-" + string(rune('a'+i)) + digit
	}
	return env
}

func TestOf(t *testing.T) {
	const visible = "CUDA_VISIBLE_DEVICES="
	same, mixed := machine("H100", "H100", "H100"), machine("T4", "H100")
	for _, c := range []struct {
		what    string
		env     schema.Env
		environ []string
		cpuOnly bool
		want    string
	}{
		{"no GPU", schema.Env{}, nil, false, "cpu"},
		{"GPUs that are not looked at", same, nil, true, "cpu"},
		{"all", same, nil, false, "gpu-a0 gpu-b1 gpu-c2"},
		{"indices", same, []string{visible + "2, 0"}, false, "gpu-c2 gpu-a0"},
		{"none", same, []string{visible}, false, "cpu"},
		{"none, as is usual", same, []string{visible + "-1"}, false, "cpu"},
		{"the last of two settings", same, []string{visible + "0", visible + "1"}, false, "gpu-b1"},
		{"up to one that is not there", same, []string{visible + "1,7,2"}, false, "gpu-b1"},
		{"a UUID and the beginning of one", same, []string{visible + "GPU-c2,GPU-b"}, false, "gpu-c2 gpu-b1"},
		{"an unknown UUID", same, []string{visible + "GPU-f"}, false, "cpu"},
		{"an instance", same, []string{visible + "MIG-1f/1"}, false, "mig-1f_1"},
		{"an index into an order that is not known", mixed, []string{visible + "0"}, false, "gpu-a0 gpu-b1"},
		{"an index into the driver's order", mixed, []string{"CUDA_DEVICE_ORDER=PCI_BUS_ID", visible + "0"}, false, "gpu-a0"},
		{"a UUID in an order that is not known", mixed, []string{visible + "GPU-b1"}, false, "gpu-b1"},
		{"a GPU without a UUID", schema.Env{GPUCount: new(int64(1))}, nil, false, "gpu-0"},
	} {
		valuetest.DeepEqual(t, strings.Join(Of(c.env, c.environ, c.cpuOnly), " "), c.want, c.what)
	}
}

// TestOfAMD: ROCm's variables choose in the order of the driver, one after the other.
func TestOfAMD(t *testing.T) {
	env := machine("MI210", "MI250", "MI300")
	env.Facts["gpu.0.gfx"] = "gfx90a"
	const rocr, hip, cuda = "ROCR_VISIBLE_DEVICES=", "HIP_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES="
	for _, c := range []struct {
		environ []string
		want    string
	}{
		{nil, "gpu-a0 gpu-b1 gpu-c2"},
		{[]string{rocr + "2,1"}, "gpu-c2 gpu-b1"},
		{[]string{rocr + "2,GPU-b1", hip + "1"}, "gpu-b1"},
		{[]string{hip + "1"}, "gpu-b1"},
		{[]string{cuda + "1"}, "gpu-b1"},
		{[]string{hip + "0", cuda + "1"}, "gpu-a0"},
		{[]string{rocr}, "cpu"},
		{[]string{rocr + "0", hip + "1"}, "cpu"},
		{[]string{hip + "-1"}, "cpu"},
	} {
		valuetest.DeepEqual(t, strings.Join(Of(env, c.environ, false), " "), c.want, c.environ)
	}
}

func FuzzOf(f *testing.F) {
	f.Add("0,1,GPU-a0,MIG-../../x")
	f.Add(",")
	f.Fuzz(func(t *testing.T, visible string) {
		devices := Of(machine("H100", "H100"), []string{"CUDA_VISIBLE_DEVICES=" + visible}, false)
		if len(devices) == 0 {
			t.Errorf("%q: no device", visible)
		}
		if i := slices.IndexFunc(devices, func(d string) bool { return d == "" || strings.ContainsAny(d, "/\x00\n") }); i >= 0 {
			t.Errorf("%q: device %q is no file name", visible, devices[i])
		}
	})
}
