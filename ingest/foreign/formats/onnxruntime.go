package formats

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var onnxRuntime = foreign.Format{
	Name:  "onnxruntime",
	About: "ONNX Runtime: profile of a session (enable_profiling), even if it is cut off",
	Level: "a run is a session; a sample is one model_run (the first is slower); operators are added up over all of them",
	Recognize: func(h *foreign.Head) bool {
		return h.Has("[].cat", "[].ph", "[].ts", "[].dur", "[].name") &&
			(h.Matches(ortEvents) || h.Has("[].args.op_name", "[].args.provider"))
	},
	Read: readORT,
}

// ortEvents are the events of a session that no other trace has.
var ortEvents = regexp.MustCompile(`"name"\s*:\s*"(?:model_run|session_initialization|model_loading_[a-z_]+|SequentialExecutor::Execute)"`)

// nodeTime ends the name of the event of a node that computes. Older versions have others of the same node:
// _fence_before, _fence_after.
const nodeTime = "_kernel_time"

// ortSession is the session of a profile.
type ortSession struct {
	ops       *ops
	began     int64
	setup     int64
	latencies []int64
	providers map[string]bool
	noRoom    int
}

func readORT(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	s := &ortSession{ops: newOps(), began: math.MaxInt64, providers: map[string]bool{}}
	err := eachEvent(j, out, s.take)
	r := s.run()
	if errors.Is(err, io.ErrUnexpectedEOF) { // the session was not ended, but its events so far are complete
		r.Warnings, err = append(r.Warnings, "the profile is cut off: its session was not ended"), nil
	}
	if s.noRoom > 0 {
		out.LeaveOut("calls of operators after the first 64 MiB of names", s.noRoom)
	}
	if s.began == math.MaxInt64 {
		out.Refuse("", errNoEvents)
	} else if stop := out.Run("", r); stop != nil {
		return stop
	}
	return err
}

// take adds an event to the session.
func (s *ortSession) take(e *event) error {
	if string(e.Phase) != `"X"` {
		return nil
	}
	start, took, err := e.span()
	if err != nil {
		return err
	}
	s.began = min(s.began, start)
	if string(e.Category) == `"Session"` {
		switch name := unquoted(e.Name); {
		case name == "model_run":
			s.latencies = append(s.latencies, took)
		case name == "session_initialization", strings.HasPrefix(name, "model_loading"):
			s.setup += min(took, math.MaxInt64-s.setup)
		}
		return nil
	}
	return s.op(e, start, took)
}

// op adds a call of an operator, or of a kernel or a function of the device that it uses.
func (s *ortSession) op(e *event, start, took int64) error {
	name := unquoted(e.Name)
	if name == "" {
		return fmt.Errorf("an event without a name")
	}
	k := opKey{name: name, kind: unquoted(e.Category)}
	if k.kind == "Node" {
		var ok bool
		if k.name, ok = strings.CutSuffix(name, nodeTime); !ok {
			return nil
		}
		a := e.arguments()
		k.kind, k.device = unquoted(a.Op), unquoted(a.Provider)
		if k.device != "" && len(s.providers) < maxProviders {
			s.providers[k.device] = true
		}
	}
	key := k.name + "\x00" + k.kind + "\x00" + k.device
	total := s.ops.find([]byte(key), func() opKey { return k })
	if total == nil {
		s.noRoom++
		return nil
	}
	return total.add(start, took, 1)
}

// maxProviders is the maximum number of execution providers that a session is expected to have.
const maxProviders = 16

func (s *ortSession) run() schema.Run {
	r := schema.Run{Purpose: schema.PurposeProfile, Benchmark: "onnxruntime", Backend: "onnxrt"}
	foreign.SetAxis(&r, "provider", strings.Join(slices.Sorted(maps.Keys(s.providers)), ","))
	if len(s.providers) == 0 {
		r.Params = nil
	}
	if s.setup > 0 {
		r.Stages.Setup = &s.setup
	}
	if len(s.latencies) > 0 {
		series := foreign.Series{Unit: "ns", Given: "us", Ticks: s.latencies}
		foreign.Add(&r, series.Metric("latency", schema.LevelIteration), series.Given)
	}
	r.Ops = s.ops.list(s.began)
	return r
}
