package python

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

//go:embed *.py
var sources embed.FS

// bootstrap runs worker.py without making it the main module of a file: a process that the benchmark spawns with multiprocessing would
// run such a file again. The current directory, which may contain a json.py of the user, is not on the import path before the worker has
// its own imports.
const bootstrap = "import sys;sys.path[:1]=[p for p in sys.path[:1]if p];" +
	"exec(compile(open(sys.argv[1]+'/worker.py','rb').read(),'neurolens_worker.py','exec'))"

// Settings define what a worker measures, and how. The zero value of a field means that it is not set.
type Settings struct {
	File      string `json:"file,omitempty"`       // user benchmark, relative to the working directory
	Object    string `json:"object,omitempty"`     // the class or function in it; empty: the only one that fits
	Backend   string `json:"backend,omitempty"`    // onnxrt, torch or tensorrt, if there is no file
	Model     string `json:"model,omitempty"`      // a path, or builtin:NAME
	ModelFile string `json:"model_file,omitempty"` // the file to load for builtin:NAME, if the backend reads ONNX
	Profile   string `json:"profile,omitempty"`    // this launch is a pass of that profiler
	// Operators asks for the operators of a few iterations after the measurement, if they take less than a tenth of the time of the run.
	Operators bool `json:"operators,omitempty"`
	// Passes are the profilers that have separate passes besides the measurement.
	Passes []string `json:"passes,omitempty"`
	// Level is the level of the samples of a file, if it is known already: an iteration, or the mean of several; otherwise the worker
	// decides.
	Level schema.Level `json:"level,omitempty"`
	// Described is the description in the file of the model; nil if it is not an ONNX file.
	Described *Described `json:"described,omitempty"`
	// Output requests the computed values, in the file task.Output.
	Output *Output `json:"output,omitempty"`

	sweep.Worker // the caller gives a reproducible run a seed, and a cold start no warm-up

	// Values are the typed values of parameters whose canonical text does not contain the type: 1.0, or "64" in quotes.
	Values map[string]json.RawMessage `json:"values,omitempty"`
	// Spellings are the names by which a benchmark may take an axis, beginning with the one that the user wrote. Texts are values as the
	// user wrote them, if the stored text differs: float32 for fp32.
	Spellings map[string][]string `json:"spellings,omitempty"`
	Texts     map[string]string   `json:"texts,omitempty"`
	// Used are axes that have had their effect before the worker starts: a benchmark may take them, and need not.
	Used []string `json:"used,omitempty"`
	// Fixed are the settings that a benchmark's own get_config may not change: iterations, warmup, seed, timing, timeouts.
	Fixed []string `json:"fixed,omitempty"`
	// Foreign are folders from which no module may have been loaded, such as the folders of the other side.
	Foreign []string `json:"foreign,omitempty"`
	Exempt  []string `json:"exempt,omitempty"` // folders within these that belong to no side
}

// The warnings that a worker sends, except the ones that begin with computed_in_.
const (
	// WarnFirstCall: the first call took more than 1 ms and more than 10 times as long as the later ones at their median. The fact
	// FactFirstCall is its time.
	WarnFirstCall = "first_call"
	// WarnLazyResult: the benchmark returned an iterator of an unknown class, so it may contain unfinished work.
	WarnLazyResult = "lazy_result"
	// WarnUnseeded: a seed or deterministic algorithms were requested, and a library did not get them. The fact runner.unseeded names
	// it.
	WarnUnseeded = "unseeded"
	// WarnConfigIgnored: get_config requests something that the run does not have. The fact runner.config_ignored names it.
	WarnConfigIgnored = "config_ignored"

	WarnOutputNotFinite  = "output_not_finite"
	WarnProfilerOverhead = "profiler_overhead"
	WarnProfileCut       = "profile_cut"
)

// FactFirstCall is the fact with the time of the first call, in ns, if it is much longer than later calls.
const FactFirstCall = "runner.first_call_ns"

// The facts with the libraries that did not get the seed, separated by commas, and with the ignored requests of get_config, separated by
// semicolons.
const (
	FactUnseeded      = "runner.unseeded"
	FactConfigIgnored = "runner.config_ignored"
)

// Described is the description of the file of an ONNX model for a worker.
type Described struct {
	Precision string `json:"precision"` // of most weights, else of the first input; empty: no precision has a word for it
	// AccuracyLevels is the number of MatMulNBits nodes by their accuracy_level.
	AccuracyLevels map[int64]int `json:"accuracy_levels,omitempty"`
}

// Output selects the values of an output that are written to the file, if it has many.
type Output struct {
	Seed int64 `json:"seed"`
}

// executor returns how a run with these settings is executed.
func (s Settings) executor() (schema.Executor, error) {
	executors := map[string]schema.Executor{
		"onnxrt": schema.ExecutorONNXRT, "torch": schema.ExecutorTorch, "tensorrt": schema.ExecutorTensorRT,
	}
	executor, ok := executors[s.Backend]
	switch {
	case s.File != "" && s.Backend != "":
		return "", fmt.Errorf("file %q and backend %q: want one of them", s.File, s.Backend)
	case s.File != "":
		return schema.ExecutorPython, nil
	case !ok:
		return "", fmt.Errorf("backend %q: want onnxrt, torch or tensorrt", s.Backend)
	}
	return executor, nil
}

// Spec returns the specification for package task to measure in this interpreter: the program with its files, settings and environment. The
// caller adds Config, Dir, the numbers of iterations, the deadlines and further variables of Env.
func (i Interpreter) Spec(settings Settings) (task.Spec, error) {
	executor, err := settings.executor()
	if err != nil {
		return task.Spec{}, fmt.Errorf("settings of a Python worker: %w", err)
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return task.Spec{}, fmt.Errorf("settings of a Python worker: %w", err)
	}
	files, err := workerFiles()
	if err != nil {
		return task.Spec{}, err
	}
	// The output of a benchmark before a crash has to be in the file, and its imports must not leave files next to the code under test.
	env := []string{"PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1"}
	if settings.Seed != nil {
		env = append(env, "PYTHONHASHSEED="+strconv.FormatUint(uint64(uint32(*settings.Seed)), 10))
	}
	return task.Spec{
		Launch: task.Launch{Executor: executor}, Env: env, Profile: settings.Profile != "",
		Program: &task.Program{Path: i.Path, Args: []string{"-c", bootstrap}, Files: files, Settings: text},
	}, nil
}

// workerFiles returns the files of the worker by name. Their contents must not be changed.
func workerFiles() (map[string][]byte, error) {
	files, err := readWorker()
	return maps.Clone(files), err
}

// readWorker reads the files once: every point of a sweep has them.
var readWorker = sync.OnceValues(func() (map[string][]byte, error) {
	entries, err := sources.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("reading the worker: %w", err)
	}
	files := make(map[string][]byte, len(entries))
	for _, e := range entries {
		if e.Name() == checker || e.Name() == converterFile { // these run before any worker
			continue
		}
		if files[e.Name()], err = sources.ReadFile(e.Name()); err != nil {
			return nil, fmt.Errorf("reading the worker: %w", err)
		}
	}
	return files, nil
})
