package probe

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/neurolens/neurolens/schema/valuetest"
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

// twoInstincts are the files of a machine with two AMD Instinct MI210. They were written by hand after the documented formats (the
// kernel's ABI of amdgpu, the topology of kfd, ROCm's .info/version): no such machine was at hand.
var twoInstincts = map[string]string{
	kfdNodes + "/0/properties":                   "cpu_cores_count 64\nsimd_count 0\nvendor_id 0\ndevice_id 0\n",
	kfdNodes + "/10/properties":                  instinct("13871538212424646353", "49664", "138"),
	kfdNodes + "/2/properties":                   instinct("5413452765890213842", "768", "128"),
	kfdNodes + "/2/mem_banks/0/properties":       "heap_type 1\nsize_in_bytes 68702699520\nflags 0\nwidth 4096\nmem_clk_max 1600\n",
	kfdNodes + "/10/mem_banks/0/properties":      "heap_type 1\nsize_in_bytes 68702699520\nflags 0\nwidth 4096\nmem_clk_max 1600\n",
	amdDriver:                                    "6.8.5\n",
	rocmVersion:                                  "6.2.0-66\n",
	kfdNodes + "/generation_id":                  "2\n",
	drmDevices + "/renderD128/device/" + product: "AMD INSTINCT MI210 (MCM) OAM AC MBA\n",
	drmDevices + "/renderD138/device/" + product: "AMD INSTINCT MI210 (MCM) OAM AC MBA\n",
	drmDevices + "/renderD128/device/" + vram:    "68702699520\n",
	drmDevices + "/renderD138/device/" + vram:    "68702699520\n",
	drmDevices + "/renderD128/device/" + vbios:   "113-D67301-063\n",
	drmDevices + "/renderD138/device/" + vbios:   "113-D67301-063\n",
}

const product, vram, vbios = "product_name", "mem_info_vram_total", "vbios_version"

func instinct(id, location, minor string) string {
	return "cpu_cores_count 0\nsimd_count 416\nmem_banks_count 1\ngfx_target_version 90010\nvendor_id 4098\ndevice_id 29711\nlocation_id " + location +
		"\ndomain 0\ndrm_render_minor " + minor + "\nunique_id " + id + "\nmax_engine_clk_fcompute 1700\n"
}

func amd(t *testing.T, files map[string]string, gpu func(context.Context) Devices) (known, missing map[string]string) {
	t.Helper()
	env := Read(t.Context(), Options{Root: tree(files), Dir: t.TempDir(), GPU: gpu})
	only := func(all map[string]string) map[string]string {
		gpus := map[string]string{}
		for name, value := range all {
			if strings.HasPrefix(name, "gpu") {
				gpus[name] = value
			}
		}
		return gpus
	}
	return only(env.Facts), only(env.Missing)
}

func TestAMD(t *testing.T) {
	known, missing := amd(t, twoInstincts, noGPU)
	want := map[string]string{"gpu.count": "2", "gpu.driver": "6.8.5", "gpu.rocm": "6.2.0-66"}
	for prefix, own := range map[string][2]string{"gpu.0.": {"GPU-4b20729bdf3df7d2", "00000000:03:00.0"}, "gpu.1.": {"GPU-c0819a8277d3fed1", "00000000:C2:00.0"}} {
		maps.Copy(want, map[string]string{
			prefix + "name": "AMD INSTINCT MI210 (MCM) OAM AC MBA", prefix + "gfx": "gfx90a", prefix + "uuid": own[0], prefix + "pci": own[1],
			prefix + "memory": "68702699520", prefix + "vbios": "113-D67301-063", prefix + "clock_memory_max": "1600", prefix + "memory_bus_width": "4096",
		})
	}
	if !maps.Equal(known, want) || len(missing) > 0 {
		t.Errorf("known %v\nwant %v\nmissing %v", known, want, missing)
	}
	env := Read(t.Context(), Options{Root: tree(twoInstincts), Dir: t.TempDir(), GPU: noGPU})
	if env.GPUName != "AMD INSTINCT MI210 (MCM) OAM AC MBA" || env.GPUCount == nil || *env.GPUCount != 2 || env.DriverVersion != "6.8.5" || env.CUDAVersion != "" {
		t.Errorf("columns %+v", env)
	}
	if advice := Advise(env); slices.ContainsFunc(advice, func(a Advice) bool { return strings.HasPrefix(a.Check, "gpu") }) {
		t.Errorf("advice that needs NVIDIA's driver: %+v", advice)
	}
	if w := Watch(env); w.child != nil {
		t.Error("NVIDIA's driver is asked")
		w.Close()
	}
}

// TestAMDOfAnotherKind: what files do not say is missing, with the reason; a card without a product's name is named by its
// device.
func TestAMDOfAnotherKind(t *testing.T) {
	const node = kfdNodes + "/1"
	known, missing := amd(t, map[string]string{
		node + "/properties":                         "simd_count 192\ngfx_target_version 110000\nvendor_id 4098\ndevice_id 29772\nlocation_id 768\ndrm_render_minor 129\n",
		node + "/mem_banks/0/properties":             "heap_type 1\nsize_in_bytes 25753026560\nwidth 384\nmem_clk_max 1249\n",
		drmDevices + "/renderD129/device/" + product: "\n",
		drmDevices + "/renderD129/device/" + vram:    "25753026560\n",
	}, noGPU)
	if known["gpu.0.name"] != "AMD 744c (gfx1100)" || known["gpu.0.memory"] != "25753026560" || known["gpu.count"] != "1" {
		t.Errorf("known %v", known)
	}
	if want := map[string]string{"gpu.driver": absent, "gpu.rocm": absent, "gpu.0.uuid": absent, "gpu.0.vbios": absent}; !maps.Equal(missing, want) {
		t.Errorf("missing %v, want %v", missing, want)
	}
}

// TestNoAMD: without such a GPU nothing changes, and where NVIDIA's driver is there, or did not answer, it is the one that counts.
func TestNoAMD(t *testing.T) {
	for _, files := range []map[string]string{
		{},
		{kfdNodes + "/0/properties": "simd_count 0\nvendor_id 0\n"},
		{kfdNodes + "/0/properties": "garbage\n"},
		{kfdNodes + "/0/properties": "simd_count 4\nvendor_id 4318\n"},
	} {
		if known, missing := amd(t, files, noGPU); len(known) > 0 || !maps.Equal(missing, map[string]string{"gpu": absent}) {
			t.Errorf("%v: known %v, missing %v", files, known, missing)
		}
	}
	for _, nvidia := range []Devices{
		{Facts: map[string]string{"gpu.count": "1", "gpu.0.name": "NVIDIA H100"}},
		{Missing: map[string]string{"gpu": timeout}},
	} {
		known, missing := amd(t, twoInstincts, func(context.Context) Devices { return nvidia })
		if len(known) != len(nvidia.Facts) || len(missing) != len(nvidia.Missing) {
			t.Errorf("%v: known %v, missing %v", nvidia, known, missing)
		}
	}
	if known, _ := amd(t, twoInstincts, nil); len(known) > 0 {
		t.Errorf("not asked for: %v", known)
	}
}

// TestAMDOfAnotherContainer: a GPU that this container may not use is not listed, and the others count from 0.
func TestAMDOfAnotherContainer(t *testing.T) {
	facts := newFacts()
	facts.miss("gpu", absent)
	readAMD(forbidden{tree(twoInstincts), kfdNodes + "/2/properties"}, facts)
	if facts.known["gpu.count"] != "1" || facts.known["gpu.0.pci"] != "00000000:C2:00.0" {
		t.Errorf("known %v", facts.known)
	}
}

// forbidden are files of which one may not be opened.
type forbidden struct {
	fstest.MapFS
	path string
}

func (f forbidden) Open(name string) (fs.File, error) {
	if name == f.path {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.MapFS.Open(name)
}

// FuzzAMD gives every file of the GPUs the same content. Each fact has to be a clean text or a reason, never both.
func FuzzAMD(f *testing.F) {
	for _, text := range twoInstincts {
		f.Add([]byte(text))
	}
	f.Add([]byte("simd_count 18446744073709551615\nvendor_id 4098\ngfx_target_version 18446744073709551615\nlocation_id 18446744073709551615\ndrm_render_minor 1\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		root := fstest.MapFS{}
		for path := range twoInstincts {
			root[path] = &fstest.MapFile{Data: content}
		}
		facts := newFacts()
		facts.miss("gpu", absent)
		readAMD(root, facts)
		for name, value := range facts.known {
			if value == "" || value != strings.TrimSpace(value) || !utf8.ValidString(value) || len(value) > longest || facts.missing[name] != "" {
				t.Errorf("%s = %q, missing %q", name, value, facts.missing[name])
			}
		}
		valuetest.DeepEqual(t, facts.known["gpu.count"] == "", facts.missing["gpu"] == absent, "known", facts.known, facts.missing)
	})
}
