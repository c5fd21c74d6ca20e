// Package formats reads the result files of other tools. All lists the formats; each is in the file named after its tool.
// CSV tables of any program are read with a mapping that the user writes (Mapped).
package formats

import (
	"errors"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// All gives the formats in the order of --list-formats.
func All() []foreign.Format {
	return slices.Concat(
		list(jsonLines(), baselineFile()),
		// Harnesses for models and GPU kernels.
		list(neurolens(), benchmarkHarness()), quasim(), list(swiftMNIST(), operationGrid()),
		// Microbenchmarks.
		list(pytestBenchmark(), googleBenchmark(), hyperfine(), goBench(), pyperf(), jmh()), criterion(), asv(),
		// Kernels and models on accelerators.
		nvbench(), trexMetadata(), list(trtexecTimes(), trtexecProfile(), trtexecLog(), tritonPerfReport()),
		// Inference servers and language models.
		vllmFormats(), list(vllmSweepTable(), sglang(), sglangOffline(), servedText(), llamaBench(), llamaBenchTable(), llamaBenchText()),
		aiperfFormats(), genaiPerfFormats(),
		list(perfAnalyzerCSV(), perfAnalyzerText(), modelAnalyzer(), loadgenSummary(), loadgenDetail(), loadgenOldDetail(), optimumBenchmark()),
		// Profiles and traces.
		list(onnxRuntime(), torchProfiler(), nsysSQLite(), nsysStats(), ncuCSV()),
		// Networks, memory and disks.
		list(ncclTests(), nvbandwidth(), fio(), sysbench()), reframe(),
	)
}

func list(formats ...foreign.Format) []foreign.Format { return formats }

// Named is the format of that name, or nil for an empty name.
func Named(name string) (*foreign.Format, error) {
	if name == "" {
		return nil, nil
	}
	var names []string
	for _, f := range All() {
		if f.Read == nil {
			continue
		}
		if f.Name == name {
			return &f, nil
		}
		names = append(names, f.Name)
	}
	if name == CSV {
		return nil, errors.New("add --map FILE, which describes the columns")
	}
	if near := schema.Nearest(name, names); near != "" {
		return nil, fmt.Errorf("unknown format; did you mean %s?", near)
	}
	return nil, errors.New("unknown format; --list-formats lists all")
}
