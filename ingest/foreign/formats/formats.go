// Package formats reads the result files of other tools. All lists the formats; each is in the file named after its tool.
// CSV tables of any program are read with a mapping that the user writes (Mapped).
//
// # How a reader is written
//
// A format is a variable of type foreign.Format: its name, two lines for --list-formats, Recognize and Read. A reader
// declares what it can, and has code for the rest only. This is a complete reader of JSON with a header and results:
//
//	var example = foreign.Format{
//		Name: "example", About: "example: JSON of --json", Level: "a run is a result, a sample is a repetition",
//		Recognize: func(h *foreign.Head) bool { return h.Has("machine.host", "results[].seconds") },
//		Read: func(in *foreign.Input, out *foreign.Output) error {
//			return documents(in, out, func(h *exampleHeader, j *foreign.JSON, others func(fields) error) error {
//				return others(fields{"results": array(j, out, func(where string, result *exampleResult) error {
//					if result.Name == "" {
//						return refusal(where, "a result without a name")
//					}
//					r := schema.Run{Benchmark: result.Name}
//					describe(&r, h)
//					describe(&r, result)
//					s, err := foreign.SeriesOf(result.Seconds, "s")
//					addSeries(&r, measure{name: "latency"}, s, schema.LevelIteration)
//					return out.RunOr(where, r, err) // refuses the result if there is an error
//				})})
//			}, "machine")
//		},
//	}
//
//	type exampleHeader struct {
//		Machine struct {
//			Host string         `json:"host" run:"Env.Hostname,Env.Machine"`
//			GPUs foreign.Number `json:"gpus" run:"Env.GPUCount"`
//			ECC  foreign.Text   `json:"ecc" fact:"gpu.ecc"`
//		} `json:"machine"`
//	}
//
//	type exampleResult struct {
//		Name    string           `json:"name"`
//		Threads foreign.Text     `json:"threads" param:"threads"`
//		Seconds []foreign.Number `json:"seconds"`
//	}
//
// Walking through the file:
//
//   - documents reads JSON objects with a header, which may follow the results. Its last arguments are the members of the
//     header: where the beginning of the file has them all, the file is read once, otherwise twice. fields reads the members of an object, as
//     a stream where a member is an array. eachElement, eachDocument, eachJSONLine and eachMember read arrays, documents
//     that follow one another, lines, and objects whose names are data.
//   - tables reads comma-separated values: one table, or several below one another.
//   - foreign.Input.EachLine reads text. A reader of text has a struct with the state between two lines, a method that
//     reads a line, and one that yields the run that is complete (flush).
//
// Describing a run: describe sets columns, parameters and facts by the tags of a struct. foreign.Text takes any JSON value
// as text, foreign.Number keeps all digits. What decides which point was measured is a parameter; what only describes the
// run is a fact.
//
// Measuring: addSeries adds samples, addAggregates and addValue add what a tool has computed from them. summaryOf takes
// aggregates from a struct by its tags, setStatistic by their names. Units are converted, and the unit of the file is kept.
//
// Refusing: a reader that returns refusal, or an error of decoding, loses that record only. Any other error ends the file.
//
// Recognize gets the beginning of the file: h.Has("machine.host", "results[].seconds") reports whether all of these paths
// exist, and [] stands for any element.
//
// The package comment of foreign has the rules for what becomes a run, and CONTRIBUTING.md the tests of a reader.
package formats

import (
	"errors"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// All returns the formats in the order of --list-formats.
func All() []foreign.Format {
	type list = []foreign.Format
	return slices.Concat(
		list{jsonLines, baselineFile, neurolensParquet},
		// Harnesses for models and GPU kernels.
		list{neurolens, benchmarkHarness}, quasim, list{swiftMNIST, operationGrid},
		// Microbenchmarks.
		list{pytestBenchmark, googleBenchmark, hyperfine, goBench, pyperf, jmh}, criterion, asv,
		// Kernels and models on accelerators.
		nvbench, trexMetadata, list{trtexecTimes, trtexecProfile, trtexecLog, tritonPerfReport},
		// Inference servers and language models.
		vllmFormats, list{sglang, sglangOffline, servedText}, llamaBench,
		aiperfFormats, genaiPerfFormats,
		list{perfAnalyzerCSV, perfAnalyzerText, modelAnalyzer}, loadgenFormats, list{optimumBenchmark},
		// Trackers of experiments.
		mlflow,
		// Profiles and traces.
		list{onnxRuntime, torchProfiler, nsysSQLite, nsysStats, ncuCSV, foldedStacks},
		// Networks, memory and disks.
		list{ncclTests, nvbandwidth, fio, sysbench}, reframe,
	)
}

// Named returns the format of that name, or nil for an empty name.
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
