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
}

var profilerNames = []string{"ort", "torch"}

// maxThreads is more than any machine has.
const maxThreads = 1 << 20

const (
	automatic        = "auto"
	timingTorchTimer = "torch_timer"
)

// keysOfPython say how a Python worker runs a point. Those with a field of Worker are told to it under that field's name.
var keysOfPython = []Key{
	{
		Name: "python", Value: scalarValue, Executors: pythonRun, Option: "the `INTERPRETER` of Python benchmarks and backends (or NEUROLENS_PYTHON)",
		Doc: "The interpreter; without it that of the active virtual environment, else python3.", point: func(p *Point) any { return &p.Python },
	},
	{
		Name: "provider", Value: scalarValue, Executors: []schema.Executor{schema.ExecutorONNXRT}, Stored: true,
		Option: "execution `PROVIDER` of ONNX Runtime", Again: true,
		Doc: "The execution provider of ONNX Runtime.", point: func(p *Point) any { return &p.Provider },
	},
	{
		Name: "device", Value: scalarValue, Executors: []schema.Executor{schema.ExecutorTorch, schema.ExecutorTensorRT}, Stored: true,
		Option: "`DEVICE` of torch: cpu, cuda, cuda:1, mps", Again: true,
		Doc: "The device: cpu, cuda, cuda:1, mps.", point: func(p *Point) any { return &p.Device },
	},
	{
		Name:  "threads",
		Value: eitherOf(Value{Kind: Integer, Least: 1, Most: maxThreads}, Value{Kind: Text, Pattern: `^(\+?[0-9]+|.*\{.*)$`}),
		Doc:   "Threads of one operation.", Executors: []schema.Executor{schema.ExecutorONNXRT, schema.ExecutorTorch},
		point: func(p *Point) any { return &p.Threads },
	},
	{
		Name: "timing", Value: oneOf(automatic, "perf_counter", "cuda_event", "triton", timingTorchTimer), Default: automatic,
		Executors: pythonRun, Stored: true, Option: "`MODE`: auto, perf_counter, cuda_event, triton, torch_timer", Again: true,
		Doc: "The clock that times an iteration; auto is cuda_event on a CUDA device, else perf_counter.", point: func(p *Point) any { return &p.Timing },
	},
	{
		Name: "min_run_time", Value: durationValue, Default: "200ms", Executors: pythonRun,
		Doc: "How long torch_timer measures.", point: func(p *Point) any { return &p.MinRunTime },
	},
	{
		Name: "iterations_per_sample", Value: eitherOf(countOf(1), oneOf(automatic)), Default: automatic,
		Executors: []schema.Executor{schema.ExecutorPython}, Stored: true, Option: "`N` iterations in each sample of a Python benchmark, or auto", Again: true,
		Doc:   "How many iterations are timed in one go; a sample is their mean. auto: as many as take 100us where one takes less than 10us.",
		point: func(p *Point) any { return &p.IterationsPerSample },
	},
	{
		Name: "seed", Value: Value{Kind: Integer, Most: maxSeed}, Executors: pythonRun, Stored: true,
		Option: "seed `N` of every generator of random numbers", Again: true,
		Doc: "The seed of every generator of random numbers; {seed} in a command.", point: func(p *Point) any { return &p.Seed },
	},
	{
		Name: "reproducible", Value: switchValue, Default: "false", Executors: pythonRun, Stored: true,
		Option: "seed 42 unless given, deterministic algorithms", Again: true,
		Doc: "Deterministic algorithms; the seed is 42 unless given.", point: func(p *Point) any { return &p.Reproducible },
	},
	{
		Name: "cold_start", Value: switchValue, Default: "false", Stored: true, Option: "no warm-up, empty kernel caches", Again: true,
		Doc: "Fresh caches of kernels, and no warm-up unless one is given.", point: func(p *Point) any { return &p.ColdStart },
	},
	{
		Name: "flush_l2", Value: switchValue, Default: "false", Stored: true,
		Executors: []schema.Executor{schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT},
		Doc:       "Empty the level-2 cache of a GPU before each iteration.", point: func(p *Point) any { return &p.FlushL2 },
	},
}
