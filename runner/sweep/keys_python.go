package sweep

import "github.com/neurolens/neurolens/schema"

// pythonRun are the executors that run in a Python worker.
var pythonRun = []schema.Executor{
	schema.ExecutorPython, schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT,
}

// profilers are the tools of profile, with the executors that have each.
var profilers = map[string][]schema.Executor{
	"ort":   {schema.ExecutorONNXRT},
	"torch": {schema.ExecutorPython, schema.ExecutorTorch},
	"nsys":  everyRun,
	"ncu":   everyRun,
}

var profilerNames = []string{"ort", "torch", "nsys", "ncu"}

// everyRun are all executors.
var everyRun = append([]schema.Executor{schema.ExecutorBuiltin, schema.ExecutorCommand}, pythonRun...)

// NotRun is why no pass of a profiler runs; empty: it runs. A sweep may name the profiler all the same, so that machines with and without it
// share the file.
func NotRun(profiler string) string {
	if profiler != "nsys" && profiler != "ncu" {
		return ""
	}
	return profiler + " is not run by this version; the key wrapper runs a command under it"
}

// modelRun are the executors that run models in a Python worker.
var modelRun = []schema.Executor{schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT}

// maxThreads is more than any machine has.
const maxThreads = 1 << 20

const (
	automatic        = "auto"
	timingTorchTimer = "torch_timer"
)

// keysOfPython say how a Python worker runs a point. Those with a field of Worker are told to it under that field's name.
var keysOfPython = []Key{
	{
		Name: "python", Value: scalarValue, Executors: pythonRun, Option: "Python `INTERPRETER` for benchmarks and backends (or NEUROLENS_PYTHON)",
		Doc: "The Python interpreter. Default: that of the active virtual environment, else python3.", point: func(p *Point) any { return &p.Python },
	},
	{
		Name: "provider", Value: scalarValue, Executors: []schema.Executor{schema.ExecutorONNXRT}, Stored: true,
		Option: "execution `PROVIDER` of ONNX Runtime", Reproduce: true,
		Doc: "The execution provider of ONNX Runtime, such as CUDAExecutionProvider.", point: func(p *Point) any { return &p.Provider },
	},
	{
		Name: "device", Value: scalarValue, Executors: []schema.Executor{schema.ExecutorTorch, schema.ExecutorTensorRT}, Stored: true,
		Option: "`DEVICE` to run on: cpu, cuda, cuda:1, mps", Reproduce: true,
		Doc: "The device to run on: cpu, cuda, cuda:1 or mps.", point: func(p *Point) any { return &p.Device },
	},
	{
		Name:  "threads",
		Value: eitherOf(Value{Kind: Integer, Min: 1, Max: maxThreads}, Value{Kind: Text, Pattern: `^(\+?[0-9]+|.*\{.*)$`}),
		Doc:   "The number of threads for one operation.", Executors: []schema.Executor{schema.ExecutorONNXRT, schema.ExecutorTorch},
		point: func(p *Point) any { return &p.Threads },
	},
	{
		Name: "timing", Value: oneOf(automatic, "perf_counter", "cuda_event", "triton", timingTorchTimer), Default: automatic,
		Executors: pythonRun, Stored: true, Option: "clock `MODE`: auto, perf_counter, cuda_event, triton, torch_timer", Reproduce: true,
		Doc: "The clock that times iterations. auto: cuda_event on a CUDA device, else perf_counter.", point: func(p *Point) any { return &p.Timing },
	},
	{
		Name: "min_run_time", Value: durationValue, Default: "200ms", Executors: pythonRun,
		Doc: "How long torch_timer measures.", point: func(p *Point) any { return &p.MinRunTime },
	},
	{
		Name: "iterations_per_sample", Value: eitherOf(countOf(1), oneOf(automatic)), Default: automatic,
		Executors: []schema.Executor{schema.ExecutorPython}, Stored: true, Option: "time `N` iterations of a Python benchmark as one sample, or auto", Reproduce: true,
		Doc:   "How many iterations are timed together. A sample is their mean. auto: enough to take 100us if one takes less than 10us, else 1.",
		point: func(p *Point) any { return &p.IterationsPerSample },
	},
	{
		Name: "seed", Value: Value{Kind: Integer, Max: maxSeed}, Executors: pythonRun, Stored: true,
		Option: "seed `N` for the global random number generators", Reproduce: true,
		Doc: "The seed for the global random number generators. In a command, {seed} stands for it.", point: func(p *Point) any { return &p.Seed },
	},
	{
		Name: "reproducible", Value: switchValue, Default: "false", Executors: pythonRun, Stored: true,
		Option: "use deterministic algorithms, and the seed 42 unless --seed is given", Reproduce: true,
		Doc: "Use deterministic algorithms. The seed is 42 unless seed is set.", point: func(p *Point) any { return &p.Reproducible },
	},
	{
		Name: "cold_start", Value: switchValue, Default: "false", Stored: true, Option: "measure a cold start: the first iteration of each run, empty kernel caches", Reproduce: true,
		Doc: "Measure a cold start: empty kernel caches, no warm-up unless warmup is set, and one iteration per run, the first of its process.", point: func(p *Point) any { return &p.ColdStart },
	},
	{
		Name: "flush_l2", Value: switchValue, Default: "false", Stored: true,
		Executors: []schema.Executor{schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT},
		Doc:       "Empty the level-2 cache of the GPU before each iteration.", point: func(p *Point) any { return &p.FlushL2 },
	},
}

// keysOfModels say what a model gets, and how it is loaded.
var keysOfModels = []Key{
	{
		Name: "inputs", Executors: modelRun, Stored: true, text: inputsText,
		Value: mapOf(1, eitherOf(shortInput, Value{Kind: Object, Keys: inputKeys})),
		Doc:   "What inputs of a model hold, by name: a number, true or false for one value; a .npy or .npz file; a range, such as {low: 0, high: 50257}; or a distribution, such as {mean: 0, std: 1}. {axis} is filled in.",
		point: func(p *Point) any { return &p.Inputs },
	},
	{
		Name: "session", Executors: []schema.Executor{schema.ExecutorONNXRT}, Stored: true, text: sessionText,
		Value: Value{Kind: Object, Keys: sessionKeys},
		Doc:   "Options of the session of ONNX Runtime, by its own names, such as {graph_optimization_level: basic}. {axis} is filled in.",
		point: func(p *Point) any { return &p.Session },
	},
}
