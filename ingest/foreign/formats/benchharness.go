package formats

import (
	"errors"
	"path"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

func benchmarkHarness() foreign.Format {
	return foreign.Format{
		Name:  "benchmark-harness",
		Log:   true,
		About: "BenchmarkHarness of the AI performance engineering book: results, expectations, peaks, single runs, profiler CSV",
		Level: "a run is the baseline or one optimization of a pair, a sample is an iteration; results files have only means",
		Recognize: func(h *foreign.Head) bool {
			return harnessReader(h) != nil
		},
		Read: func(in *foreign.Input, out *foreign.Output) error {
			read := harnessReader(in.Head)
			if read == nil {
				return errors.New("it is none of the files of BenchmarkHarness that are read: results, expectations, peaks, single runs, profiler CSV")
			}
			return read(in, out)
		},
	}
}

var (
	expectationKey = regexp.MustCompile(`"best_optimi[sz]`)
	nsysHeader     = regexp.MustCompile(`(?i)^"?metric"?, *"?value"?$`)
	nsysRow        = regexp.MustCompile(`(?mi)^"?(total gpu time|kernel time|memory throughput|compute (throughput|utilization))`)
	ncuRow         = regexp.MustCompile(`^"?[a-z][a-z0-9]*__[a-z0-9_.]+"? *, *"?[-+0-9.,eE]+"?$`)
)

// harnessReader gives the reader for a file by its beginning, or nil if it is not a file of BenchmarkHarness.
func harnessReader(h *foreign.Head) func(*foreign.Input, *foreign.Output) error {
	switch {
	case h.Has("results[].chapter", "results[].status"), h.Has("results[].chapter", "results[].benchmarks"):
		return readSuite
	case h.Has("examples", "hardware_key"), h.Has("examples") && h.Matches(expectationKey):
		return readExpectations
	case h.Has("result.timing", "run_id"), h.Has("result.timing.mean_ms"):
		return readHarnessRun
	case h.Has("timing.mean_ms", "timing.median_ms", "timing.iterations"):
		return readHarnessResult
	case h.Has("timestamp", "benchmarks[].returncode", "benchmarks[].duration_sec"):
		return readContinuous
	case h.Has("timestamp", "gpu_name") && h.HasAny("hbm", "fp16_compute", "l2_cache", "nvlink", "torch_compile"):
		return readPeaks
	case nsysHeader.MatchString(h.FirstLine()) && h.Matches(nsysRow):
		return readNsysPairs
	case ncuRow.MatchString(h.FirstLine()):
		return readNcuPairs
	case strings.HasPrefix(h.FirstLine(), "# Benchmark Test Results"):
		return readHarnessReport
	}
	return nil
}

// readHarnessReport leaves a report to the results file that it was made from, which says more.
func readHarnessReport(in *foreign.Input, out *foreign.Output) error {
	stem := strings.TrimSuffix(path.Base(in.Path), path.Ext(in.Path))
	for _, folder := range []string{"", "../results/"} {
		if in.Beside(folder + stem + ".json") {
			out.LeaveTo(folder+stem+".json", "report whose results file is read instead", 1)
			return nil
		}
	}
	return errors.New("it is a Markdown report, which is not read: ingest the benchmark_test_results.json that it was made from")
}

// chapterName is the name of a benchmark in the harness: chapter and example.
func chapterName(chapter, example string) string {
	if chapter == "" {
		return example
	}
	return chapter + "/" + example
}

// baselineVariant is the variant that the others of a pair are compared with.
const baselineVariant = "baseline"

// variantOf is the variant for a technique. The harness names a file without a technique, optimized_X of the example X,
// after the file. Here it has the name that the rule pairs of discover gives it, so that imported and measured pairs are
// the same points.
func variantOf(example, technique string) string {
	if technique == "optimized_"+example {
		return "optimized"
	}
	return technique
}

// backendOf is the backend: a benchmark is a Python file with torch, or a CUDA program.
func backendOf(kind, file string) string {
	switch {
	case kind == "cuda", kind == "" && path.Ext(file) == ".cu":
		return "cuda"
	case kind == "python", kind == "" && path.Ext(file) == ".py":
		return "torch"
	}
	return kind
}

// The texts by which the harness, torch and CUDA say why something failed.
var (
	timeoutText = regexp.MustCompile(`(?i)\btimeout: |exceeded timeout|timed out after`)
	memoryText  = regexp.MustCompile(`(?i)out of memory|OutOfMemory`)
	skipText    = regexp.MustCompile(`(?i)^(skipped:|hardware/software limitation:)`)
	buildText   = regexp.MustCompile(`(?i)failed to build|executable not found`)
	stageText   = regexp.MustCompile(`Benchmark (setup|warmup|measurement|profiling) stage`)
)

// harnessStages translates the stages of the harness to ours.
var harnessStages = map[string]schema.Stage{
	"setup": schema.StageSetup, "warmup": schema.StageWarmup, "measurement": schema.StageMeasure, "profiling": schema.StageProfile,
}

// failRun sets how a run without a time ended, from the message of the harness. word is the status in the file.
func failRun(r *schema.Run, word, text string) {
	r.Status, r.Error = schema.StatusError, text
	if text == "" {
		r.Error = "no time was stored"
	}
	switch {
	case word == "skipped", skipText.MatchString(text):
		r.Status = schema.StatusSkipped
	case timeoutText.MatchString(text):
		r.Status, r.Stage = schema.StatusTimeout, schema.StageMeasure
		if m := stageText.FindStringSubmatch(text); m != nil {
			r.Stage = harnessStages[m[1]]
		}
	case memoryText.MatchString(text):
		r.Status = schema.StatusOOM
	case buildText.MatchString(text):
		r.Stage = schema.StageBuild
	}
	switch word {
	case "", "skipped", "failed", "failed_error", "success", "succeeded":
	default:
		r.ErrorKind = word
	}
}
