package profiler

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestStart: the words before a program name the folder of the pass; arguments of the user replace options of the same name.
func TestStart(t *testing.T) {
	for _, c := range []struct {
		tool, want string
		ranges     bool
		args       []string
	}{
		{
			"nsys", "/bin/nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none --wait=primary --force-overwrite=true --output=/a b/profile " +
				"--capture-range=nvtx --nvtx-capture=neurolens:measure@* --capture-range-end=stop", true, nil,
		},
		{
			"nsys", "/bin/nsys profile --trace=cuda,nvtx --cpuctxsw=none --wait=primary --force-overwrite=true --output=/a b/profile --sample=cpu",
			false,
			[]string{"--sample=cpu"},
		},
		{
			"ncu", "/bin/ncu --target-processes all --section MemoryWorkloadAnalysis --clock-control none --launch-count 50 --kill yes --force-overwrite --export /a b/profile " +
				"--nvtx --nvtx-include neurolens:measure/ --nvtx-include neurolens@neurolens:measure/ --set full", true, []string{"--set", "full"},
		},
	} {
		tool, ok := Of(c.tool)
		valuetest.DeepEqual(t, ok, true)
		valuetest.DeepEqual(t, strings.Join(tool.Start("/bin/"+c.tool, "/a b", c.ranges, c.args), " "), c.want)
	}
	if _, ok := Of("torch"); ok {
		t.Error("torch starts no program")
	}
}

// TestRefusal: of all that was printed, the line that says why a tool cannot work counts, and not its consequences.
func TestRefusal(t *testing.T) {
	for printed, want := range map[string]string{
		"==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission.\n==ERROR== The application returned an error code (1).\n": "ERR_NVGPUCTRPERM - The user does not have permission.; run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0",
		"==ERROR== LibraryNotLoaded\r\n==WARNING== No kernels were profiled.\n":                                                                                     "LibraryNotLoaded",
		"my own ==ERROR== x\n": "",
	} {
		tool, _ := Of("ncu")
		valuetest.DeepEqual(t, tool.Refusal("", printed), want, printed)
	}
}
