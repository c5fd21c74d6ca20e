package formats

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var hyperfine = foreign.Format{
	Name:  "hyperfine",
	About: "hyperfine: JSON of --export-json",
	Level: "a run is a command with its parameters, a sample is a process that hyperfine timed",
	Recognize: func(h *foreign.Head) bool {
		return h.Has("results[].command") && h.HasAny("results[].times", "results[].mean", "results[].user")
	},
	Read: readHyperfine,
}

// readHyperfine reads the results of one launch of hyperfine, or of several.
func readHyperfine(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	for first := true; first || another(j); first = false {
		err := fields{"results": array(j, out, func(where string, result *hyperfineResult) error {
			r, err := result.run()
			return out.RunOr(where, r, err)
		})}.read(j, out)
		if err != nil {
			return err
		}
	}
	return nil
}

// hyperfineResult is a result. Times are in seconds; user and system times are means.
type hyperfineResult struct {
	Command    string                  `json:"command"`
	Mean       foreign.Number          `json:"mean" stat:"mean"`
	StdDev     foreign.Number          `json:"stddev" stat:"stddev"`
	Median     foreign.Number          `json:"median" stat:"median"`
	User       foreign.Number          `json:"user"`
	System     foreign.Number          `json:"system"`
	Min        foreign.Number          `json:"min" stat:"min"`
	Max        foreign.Number          `json:"max" stat:"max"`
	Times      []foreign.Number        `json:"times"`
	Memory     []foreign.Number        `json:"memory_usage_byte"`
	ExitCodes  []*int64                `json:"exit_codes"` // null for a process that a signal ended
	Parameter  foreign.Text            `json:"parameter"`  // of versions before 1.9
	Parameters map[string]foreign.Text `json:"parameters"`
}

// run returns the run of a result.
func (h *hyperfineResult) run() (r schema.Run, err error) {
	if h.Command == "" {
		return r, errors.New("a result without a command")
	}
	if n := len(h.ExitCodes); n > 0 && n != len(h.Times) {
		return r, fmt.Errorf("%d exit_codes for %d times", n, len(h.Times))
	}
	params, all := map[string]string{}, []param(nil)
	for name, text := range h.Parameters {
		params[name] = string(text)
	}
	if len(params) == 0 && h.Parameter != "" {
		params["parameter"] = string(h.Parameter)
	}
	r.Benchmark = template(h.Command, params)
	names := slices.Sorted(maps.Keys(params))
	for _, name := range names {
		all = append(all, param{name, params[name]})
	}
	if !setParams(&r, all) {
		return r, fmt.Errorf("two parameters name the same axis: %v", names)
	}
	h.setOutcome(&r)
	return r, h.setMetrics(&r)
}

// template returns the command as the user gave it to hyperfine, with the names of the parameters instead of their values: make -j
// {threads}. A value that is only a part of a word stays, unless it follows the letter of a flag: make -j{threads}.
func template(command string, params map[string]string) string {
	isWord := func(c byte) bool {
		return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	names := slices.SortedFunc(maps.Keys(params), func(a, b string) int {
		if d := len(params[b]) - len(params[a]); d != 0 { // the longest value first: it may hold another one
			return d
		}
		return strings.Compare(a, b)
	})
	var b strings.Builder
	for i := 0; i < len(command); {
		name := ""
		for _, n := range names {
			value := params[n]
			end := i + len(value)
			if value != "" && strings.HasPrefix(command[i:], value) && (i == 0 || !isWord(command[i-1]) || isFlag(command[:i])) &&
				(end == len(command) || !isWord(command[end])) {
				name = n
				break
			}
		}
		if name == "" {
			b.WriteByte(command[i])
			i++
			continue
		}
		b.WriteString("{" + name + "}")
		i += len(params[name])
	}
	return b.String()
}

var flagEnd = regexp.MustCompile(`(?:^|\s)-[A-Za-z]$`)

// isFlag reports whether a text ends with a flag of one letter.
func isFlag(text string) bool { return flagEnd.MatchString(text[max(0, len(text)-len(" -j")):]) }

// setOutcome sets the status of a run. With -i, hyperfine continues after a process that failed.
func (h *hyperfineResult) setOutcome(r *schema.Run) {
	failed := 0
	for _, code := range h.ExitCodes {
		switch {
		case code == nil:
			r.Status = schema.StatusCrashed
		case *code != 0 && r.Status == "":
			r.Status, r.ExitCode = schema.StatusError, code
		case *code == 0:
			continue
		}
		failed++
	}
	if failed > 0 {
		r.Stage = schema.StageMeasure
		r.Error = fmt.Sprintf("%d of %d processes failed", failed, len(h.ExitCodes))
	}
	zeros := 0
	for _, t := range h.Times {
		if v := t.Float64(); v != nil && *v == 0 {
			zeros++
		}
	}
	if zeros > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d times are 0: no longer than the shell's start, which hyperfine subtracts", zeros, len(h.Times)))
	}
}

func (h *hyperfineResult) setMetrics(r *schema.Run) error {
	add := func(m schema.Metric, unit string) {
		m.Level = schema.LevelProcess
		foreign.Add(r, m, unit)
	}
	latency, err := foreign.SeriesOf(h.Times, "s")
	if err != nil {
		return fmt.Errorf("reading times: %w", err)
	}
	m := foreign.Aggregate("latency", "s", summaryOf(*h, "s"))
	if latency.Len() > 0 {
		m = latency.Metric("latency", "")
	}
	if add(m, "s"); len(r.Metrics) == 0 {
		return errors.New("it has neither times nor a mean")
	}
	for i, mean := range []foreign.Number{h.User, h.System} {
		m := foreign.Aggregate([]string{"cpu_user", "cpu_system"}[i], "s", schema.Summary{Mean: mean.Finite("s")})
		if n := int64(len(h.Times)); n > 0 && m.Summary.Mean != nil {
			m.Summary.N = &n
		}
		add(m, "s")
	}
	memory, err := foreign.SeriesOf(h.Memory, "B")
	if err != nil {
		return fmt.Errorf("reading memory_usage_byte: %w", err)
	}
	add(memory.Metric("peak_memory", ""), "B")
	return nil
}
