package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// The arguments that make this program a process that asks the driver: once, or whenever it is asked.
const (
	role      = "__gpu"
	watchRole = "__gpu-watch"
)

// Main is the part of the program that queries the driver and prints the answer as JSON. It runs as a separate process, because a
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
		err = answer(driverState(library))
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

// readDevices takes over what ask gives.
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

// unknownDevices returns the reason why it is not known which GPUs there are; empty where it is. No driver means
// that there are none to measure.
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

// deviceName is what stands for all GPUs of a machine: each name once.
func deviceName(names []string) string { return strings.Join(slices.Compact(names), ", ") }
