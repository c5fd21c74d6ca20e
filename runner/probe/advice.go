package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// The states of an Advice.
const (
	StateOK      = "ok"
	StateAdvice  = "advice"  // it disturbs measurements
	StateUnknown = "unknown" // unknown is not fine
)

// Advice is the result of one check of a machine as a place to measure.
type Advice struct {
	Check   string
	State   string
	Value   string // the observed value, as text; empty: not known
	Missing string // why it is not known: absent, permission, unsupported, timeout
	Why     string // its effect on measurements; empty: it is fine
	Command string // a command that helps, to be pasted as it is; empty: none
	Remedy  string // what to do instead, and why no command helps; empty: there is a command, or nothing to do
}

// check is one question about a machine.
type check struct {
	name    string
	facts   []string // the facts that it uses; if none is known, the answer is unknown
	why     string
	command string // may hold {gpu}, the index of the GPU
	judge   func(seen) verdict
	remedy  string // if no command helps: what does, and why
}

// seen are the facts that a check uses. The prefix is gpu.N. for a check of a GPU.
type seen struct {
	env    schema.Env
	prefix string
	value  string // the first of the check's facts, or empty
}

func (s seen) fact(name string) string { return s.env.Facts[name] }

// number is a fact as a number; known is false if it is not one.
func (s seen) number(name string) (n float64, known bool) {
	n, err := strconv.ParseFloat(s.env.Facts[name], 64)
	return n, err == nil
}

// verdict is the conclusion of a check.
type verdict struct {
	state   string
	value   string
	command string // instead of that of the check; the only one if the state is unknown
}

// fineIf is the verdict for a value that is fine or not.
func fineIf(fine bool, value string) verdict {
	if fine {
		return verdict{state: StateOK, value: value}
	}
	return verdict{state: StateAdvice, value: value}
}

// Advise judges a machine by the facts that Read returns, in a fixed order. Checks of GPUs are made for each NVIDIA GPU.
func Advise(env schema.Env) []Advice {
	var advice []Advice
	for _, c := range hostChecks {
		advice = append(advice, c.apply(env, ""))
	}
	if why := env.Missing["gpu"]; why != "" && why != absent {
		advice = append(advice, Advice{
			Check: "gpu", State: StateUnknown, Missing: why, Why: "the GPUs, and the processes that use them, could not be read",
		})
	}
	for i := range count(env.GPUCount) {
		if env.Facts[fmt.Sprintf("gpu.%d.gfx", i)] != "" {
			continue // what is asked here only NVIDIA's driver answers
		}
		for _, c := range deviceChecks {
			advice = append(advice, c.apply(env, fmt.Sprintf("gpu.%d.", i)))
		}
	}
	return advice
}

func (c check) apply(env schema.Env, prefix string) Advice {
	a := Advice{Check: prefix + c.name, Why: c.why}
	v := verdict{state: StateUnknown}
	if slices.ContainsFunc(c.facts, func(fact string) bool { return env.Facts[prefix+fact] != "" }) {
		v = c.judge(seen{env: env, prefix: prefix, value: env.Facts[prefix+c.facts[0]]})
	} else {
		a.Missing = env.Missing[prefix+c.facts[0]]
	}
	a.State, a.Value = v.state, v.value
	switch a.State {
	case StateOK:
		a.Why = ""
	case StateAdvice:
		v.command, a.Remedy = cmp.Or(v.command, c.command), c.remedy
		fallthrough
	case StateUnknown:
		index := strings.TrimSuffix(strings.TrimPrefix(prefix, "gpu."), ".")
		a.Command = strings.ReplaceAll(v.command, "{gpu}", index)
	}
	if a.State == StateUnknown {
		a.Missing = cmp.Or(a.Missing, unsupported)
	}
	return a
}

// unclear is the verdict if the facts do not answer the question.
func unclear(value string) verdict { return verdict{state: StateUnknown, value: value} }

// onOff is a flag for people.
func onOff(flag string) string {
	if flag == "true" {
		return "on"
	}
	return "off"
}
