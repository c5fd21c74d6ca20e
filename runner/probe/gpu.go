package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// Devices are the facts about the GPUs of a machine. Their names begin with gpu.
type Devices struct {
	Facts   map[string]string `json:"facts"`
	Missing map[string]string `json:"missing"`
}

// The arguments that make this program a process that asks the driver: once, or whenever it is asked, and takes readings of the machine.
const (
	role      = "__gpu"
	watchRole = "__gpu-watch"
)

// Main returns the part of the program that queries the driver and prints the answer as JSON. It runs as a separate process, because a
// function that an older driver lacks ends the calling process, and because a driver may hang. argv are the arguments without the name
// of the program: the role, then optionally the path of another library. handled is false if argv requests something else.
func Main(argv []string) (code int, handled bool) {
	if len(argv) == 0 || argv[0] != role && argv[0] != watchRole {
		return 0, false
	}
	library := ""
	if len(argv) > 1 {
		library = argv[1]
	}
	var err error
	if argv[0] == role {
		err = json.NewEncoder(os.Stdout).Encode(queryDriver(library))
	} else {
		err = serve(systemRoot(), openMonitor(library))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "neurolens: printing the answer of the GPU driver: %v\n", err)
		return 6, true
	}
	return 0, true
}

// GPU queries the driver through another process of this program, whose main must call Main. It gives up after a few seconds.
func GPU(ctx context.Context) Devices { return queryChild(ctx, role) }

// queryChild runs this program with args and reads the document that it prints.
func queryChild(ctx context.Context, args ...string) Devices {
	devices, err := childDocument(ctx, args)
	if err != nil {
		return Devices{Missing: map[string]string{"gpu": reason(err)}}
	}
	return devices
}

func childDocument(ctx context.Context, args []string) (Devices, error) {
	program, err := os.Executable()
	if err != nil {
		return Devices{}, fmt.Errorf("finding this program: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := output(ctx, exec.CommandContext(ctx, program, args...))
	if err != nil {
		return Devices{}, fmt.Errorf("asking the GPU driver: %w", err)
	}
	return parseDevices(out)
}

// parseDevices reads the document of Main and refuses anything else.
func parseDevices(document []byte) (Devices, error) {
	decoder := json.NewDecoder(strings.NewReader(string(document)))
	decoder.DisallowUnknownFields()
	var devices Devices
	if err := decoder.Decode(&devices); err != nil {
		return Devices{}, fmt.Errorf("reading the answer of the GPU driver: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Devices{}, malformed("the answer of the GPU driver", string(document))
	}
	for _, part := range []map[string]string{devices.Facts, devices.Missing} {
		for name := range part {
			if name != "gpu" && !strings.HasPrefix(name, "gpu.") {
				return Devices{}, malformed("the answer of the GPU driver", name)
			}
		}
	}
	return devices, nil
}

// readDevices adds the facts that query returns.
func readDevices(ctx context.Context, ask func(context.Context) Devices, f *facts) {
	if ask == nil {
		f.miss("gpu", unsupported)
		return
	}
	devices := ask(ctx)
	for name, value := range devices.Facts {
		f.set(name, value)
	}
	for name, why := range devices.Missing {
		f.miss(name, why)
	}
}

// deviceFact reports whether name is gpu.N.fact, or gpu.N where fact is empty.
func deviceFact(name, fact string) bool {
	rest, ok := strings.CutPrefix(name, "gpu.")
	index, last, _ := strings.Cut(rest, ".")
	_, err := strconv.ParseUint(index, 10, 16)
	return ok && err == nil && last == fact
}

// deviceNames lists the names of the GPUs, sorted.
func (f *facts) deviceNames() []string {
	var names []string
	for name, value := range f.known {
		if deviceFact(name, "name") {
			names = append(names, value)
		}
	}
	slices.Sort(names)
	return names
}

// unknownDevices returns the reason why the GPUs are unknown, or an empty text. Without a driver there are none to measure.
func (f *facts) unknownDevices() string {
	for _, name := range slices.Sorted(maps.Keys(f.missing)) {
		why := f.missing[name]
		switch {
		case name == "gpu" && why != absent, name == "gpu.count", deviceFact(name, ""), deviceFact(name, "name"):
			return why
		}
	}
	return ""
}

// The files in which Linux and ROCm describe AMD GPUs. The first is the topology that ROCm's own tools read, by the kernel's driver for
// compute (kfd), which lists the GPUs that this process may use.
const (
	kfdNodes    = "sys/class/kfd/kfd/topology/nodes"
	drmDevices  = "sys/class/drm"
	amdDriver   = "sys/module/amdgpu/version"
	rocmVersion = "opt/rocm/.info/version"
)

// vendorAMD is AMD's number among the makers of PCI devices.
const vendorAMD = 0x1002

// readAMD detects AMD GPUs on a machine without the driver of NVIDIA: their names, number, memory, driver and ROCm version. No tool is
// started: amd-smi and rocm-smi read the same files.
func readAMD(root fs.FS, f *facts) {
	if f.missing["gpu"] != absent {
		return
	}
	gpus := amdGPUs(root)
	if len(gpus) == 0 {
		return
	}
	for i, gpu := range gpus {
		gpu.read(root, fmt.Sprintf("gpu.%d.", i), f)
	}
	delete(f.missing, "gpu")
	f.set("gpu.count", strconv.Itoa(len(gpus)))
	f.put("gpu.driver")(readText(root, amdDriver)) // the driver in the kernel tree has no version number
	f.put("gpu.rocm")(readText(root, rocmVersion))
}

// amdGPU is an AMD GPU: a node of the topology.
type amdGPU struct {
	node       string // its path
	properties kfdProperties
}

// amdGPUs lists the GPUs that this process may use, in the order of the driver.
func amdGPUs(root fs.FS) (gpus []amdGPU) {
	nodes, _ := subdirs(root, kfdNodes, "") // without the driver there are none
	slices.SortFunc(nodes, func(a, b string) int { return indexOf(a) - indexOf(b) })
	for _, node := range nodes {
		properties, err := readKFD(root, node+"/properties")
		if err != nil || properties["vendor_id"] != vendorAMD || properties["simd_count"] == 0 { // another container's, or a processor
			continue
		}
		gpus = append(gpus, amdGPU{node, properties})
	}
	return gpus
}

// device returns the path of the files of the device.
func (g amdGPU) device() string {
	return fmt.Sprintf("%s/renderD%d/device", drmDevices, g.properties["drm_render_minor"])
}

// indexOf returns the number at the end of a path that subdirs has found.
func indexOf(path string) int {
	n, _ := strconv.Atoi(path[strings.LastIndexByte(path, '/')+1:])
	return n
}

// kfdProperties are the properties of a node of the topology, or of a memory bank of a node.
type kfdProperties map[string]uint64

func readKFD(root fs.FS, path string) (kfdProperties, error) {
	text, err := readText(root, path)
	if err != nil {
		return nil, err
	}
	return parseKFD(text)
}

// parseKFD reads lines of a name and a decimal number.
func parseKFD(text string) (kfdProperties, error) {
	p := kfdProperties{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
		if err != nil || name == "" {
			return nil, malformed("the topology of GPUs", line)
		}
		p[name] = n
	}
	return p, nil
}

// read notes the facts of one GPU, under the same names as for GPUs of NVIDIA.
func (g amdGPU) read(root fs.FS, prefix string, f *facts) {
	p, device := g.properties, g.device()
	gfx := p.gfx()
	f.set(prefix+"gfx", gfx)
	name, err := readText(root, device+"/product_name")
	if err != nil || name == "" { // only server boards have a name
		name = fmt.Sprintf("AMD %04x (%s)", p["device_id"], gfx)
	}
	f.set(prefix+"name", name)
	if id := p["unique_id"]; id != 0 {
		f.set(prefix+"uuid", fmt.Sprintf("GPU-%016x", id)) // as rocminfo prints it
	} else {
		f.miss(prefix+"uuid", absent)
	}
	at := p["location_id"]
	f.set(prefix+"pci", fmt.Sprintf("%08X:%02X:%02X.%X", p["domain"], at>>8&0xff, at>>3&0x1f, at&7))
	f.put(prefix + "vbios")(readText(root, device+"/vbios_version"))
	g.readMemory(root, prefix, f)
}

// gfx returns the instruction set: 90010 is gfx90a, the last two of three numbers in hexadecimal.
func (p kfdProperties) gfx() string {
	v := p["gfx_target_version"]
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("gfx%d%x%x", v/10000, v/100%100, v%100)
}

// readMemory notes the size of a GPU's memory, its fastest clock and the width of its bus.
func (g amdGPU) readMemory(root fs.FS, prefix string, f *facts) {
	f.put(prefix + "memory")(file{parse: integer}.read(root, g.device()+"/mem_info_vram_total"))
	bank, err := readKFD(root, g.node+"/mem_banks/0/properties")
	for name, key := range map[string]string{"clock_memory_max": "mem_clk_max", "memory_bus_width": "width"} {
		why := err
		if why == nil && bank[key] == 0 {
			why = fs.ErrNotExist
		}
		f.put(prefix+name)(strconv.FormatUint(bank[key], 10), why)
	}
}
