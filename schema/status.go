package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Status is how a run ended.
type Status string

// The statuses of a run.
const (
	StatusOK          Status = "ok"
	StatusError       Status = "error"        // the benchmark or its validation failed
	StatusTimeout     Status = "timeout"      // a stage reached its deadline and was killed
	StatusCrashed     Status = "crashed"      // ended by a signal, or without a result
	StatusOOM         Status = "oom"          // out of memory
	StatusUnsupported Status = "unsupported"  // this combination cannot run here
	StatusSkipped     Status = "skipped"      // planned not to run
	StatusOutputLimit Status = "output_limit" // wrote more output than allowed
	StatusCancelled   Status = "cancelled"    // by the user
	StatusUnkillable  Status = "unkillable"   // a process survived SIGKILL
	StatusLost        Status = "lost"         // its supervisor died
)

// Statuses are all statuses.
var Statuses = []Status{
	StatusOK, StatusError, StatusTimeout, StatusCrashed, StatusOOM, StatusUnsupported, StatusSkipped,
	StatusOutputLimit, StatusCancelled, StatusUnkillable, StatusLost,
}

// Failed reports whether a user should look at the run (exit code 4).
func (s Status) Failed() bool {
	return s != StatusOK && s != StatusUnsupported && s != StatusSkipped
}

// Stage is a part of a run.
type Stage string

// The stages of a run, in order.
const (
	StageBuild    Stage = "build"
	StageSetup    Stage = "setup"
	StageWarmup   Stage = "warmup"
	StageMeasure  Stage = "measure"
	StageValidate Stage = "validate"
	StageTeardown Stage = "teardown"
	StageProfile  Stage = "profile"
)

// StageNames are all stages in order.
var StageNames = []Stage{
	StageBuild, StageSetup, StageWarmup, StageMeasure, StageValidate, StageTeardown, StageProfile,
}

// Purpose distinguishes runs that are compared from passes of a profiler, which are never compared.
type Purpose string

// The purposes of a run.
const (
	PurposeMeasure Purpose = "measure"
	PurposeProfile Purpose = "profile"
)

// Executor is how a run was launched. The backend, in contrast, is what computes.
type Executor string

// The executors.
const (
	ExecutorBuiltin  Executor = "builtin"
	ExecutorCommand  Executor = "command"
	ExecutorPython   Executor = "python"
	ExecutorONNXRT   Executor = "onnxrt"
	ExecutorTorch    Executor = "torch"
	ExecutorTensorRT Executor = "tensorrt"
)

var executors = []Executor{
	ExecutorBuiltin, ExecutorCommand, ExecutorPython, ExecutorONNXRT, ExecutorTorch, ExecutorTensorRT,
}

// Better is the direction in which a metric improves.
type Better string

// The directions. The empty value means unknown.
const (
	BetterLower  Better = "lower"
	BetterHigher Better = "higher"
)

// Level distinguishes what one sample measures.
type Level string

// The levels of a sample.
const (
	LevelIteration Level = "iteration"
	LevelProcess   Level = "process"
	LevelRequest   Level = "request"
	LevelToken     Level = "token"
	LevelInterval  Level = "interval"
	LevelMean      Level = "mean" // of the iterations in a sample
)

var levels = []Level{LevelIteration, LevelProcess, LevelRequest, LevelToken, LevelInterval, LevelMean}

// TimeSource is the source of StartedAt.
type TimeSource string

// The sources of a start time.
const (
	TimeClock TimeSource = "clock" // this machine's clock
	TimeFile  TimeSource = "file"  // the modification time of an imported file
	TimeNaive TimeSource = "naive" // a time without a zone, taken as UTC
)

// closed has the values of the columns that can only have some values, by name.
var closed = map[string][]string{
	"status": texts(Statuses), "stage": texts(StageNames), "purpose": texts([]Purpose{PurposeMeasure, PurposeProfile}), "executor": texts(executors),
	"precision": Precisions, "side": {"base", "head"}, "time_source": texts([]TimeSource{TimeClock, TimeFile, TimeNaive}),
	"better": texts([]Better{BetterLower, BetterHigher}), "level": texts(levels),
}

func texts[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// ValuesOf returns all values that a column of runs can have besides NULL. It returns nil for a column without such a list.
func ValuesOf(column string) []string { return closed[column] }

// oneOf returns an error for a value that a column cannot have. The zero value passes if empty is set.
func oneOf[T ~string](column string, value T, empty bool) error {
	if (value == "" && empty) || slices.Contains(closed[column], string(value)) {
		return nil
	}
	return fmt.Errorf("%s %q: want one of %s", column, value, strings.Join(closed[column], " "))
}
