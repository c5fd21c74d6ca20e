package probe

import (
	"debug/elf"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestNoUndefinedFunctions: functions.h has all functions that the binding calls, also those of a newer version of it. So a program
// starts when all symbols have to be found at once.
func TestNoUndefinedFunctions(t *testing.T) {
	bindNVML("libof-no-such-driver.so") // is linked in
	program := valuetest.Must(os.Executable())
	file := valuetest.Must(elf.Open(program))
	defer file.Close()
	for _, s := range valuetest.Must(file.DynamicSymbols()) {
		if strings.HasPrefix(s.Name, "nvml") {
			t.Errorf("%s is a dynamic symbol of the program", s.Name)
		}
	}
	start := exec.Command(program, "-test.run=^$")
	start.Env = append(os.Environ(), "LD_BIND_NOW=1")
	if output, err := start.CombinedOutput(); err != nil {
		t.Errorf("with LD_BIND_NOW: %v: %s", err, output)
	}
}

// TestWithoutDriver: a function that no library has says so, instead of ending the process.
func TestWithoutDriver(t *testing.T) {
	if _, ret := nvml.SystemGetDriverVersion(); ret != nvml.ERROR_FUNCTION_NOT_FOUND {
		t.Errorf("a function: %d, want %d", ret, nvml.ERROR_FUNCTION_NOT_FOUND)
	}
}
