package views

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/tune"
	"github.com/neurolens/neurolens/schema"
)

var doctored = []probe.Advice{
	{Check: "governor", State: probe.StateAdvice, Value: "powersave", Why: "the clock follows the load", Command: "sudo cpupower frequency-set -g performance", Tune: "governor"},
	{Check: "swap", State: probe.StateOK, Value: "0 B"},
	{Check: "battery", State: probe.StateAdvice, Value: "discharging", Why: "a battery saves power", Remedy: "no command helps: plug it in"},
	{Check: "boost", State: probe.StateUnknown, Missing: "absent", Why: "the clock depends on heat"},
	{Check: "smt", State: probe.StateUnknown, Missing: "absent", Why: "two threads share a core"},
	{Check: "gpu.0.clocks", State: probe.StateUnknown, Value: "345 of 1980 MHz", Missing: "unsupported", Why: "a free clock follows heat", Command: "sudo nvidia-smi -i 0 --lock-gpu-clocks=tdp,tdp"},
}

func doctorScreen(advice []probe.Advice, width int) string {
	var b bytes.Buffer
	Advice(schema.Env{Machine: "lab3", CPUModel: "EPYC"}, advice, width).Render(&b, term.Page{Width: width, Color: true})
	return b.String()
}

func TestAdviceView(t *testing.T) {
	want := `lab3 · EPYC

governor  powersave
    the clock follows the load
    sudo cpupower frequency-set -g performance
    or only while measuring: neurolens bench --tune=governor

battery  discharging
    a battery saves power
    no command helps: plug it in

gpu.0.clocks  345 of 1980 MHz
    a free clock follows heat
    sudo nvidia-smi -i 0 --lock-gpu-clocks=tdp,tdp

unknown, absent  boost smt
6 checks: 2 to look at, 1 fine, 3 unknown; nothing was changed
`
	if got := doctorScreen(doctored, 80); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	narrow := doctorScreen(doctored, 24)
	for line := range strings.Lines(narrow) {
		if line = strings.TrimSuffix(line, "\n"); ansi.StringWidth(line) > 24 && !strings.Contains(line, "sudo") {
			t.Errorf("wider than 24 columns: %s", line)
		}
	}
	contains(t, narrow, "\n    sudo cpupower frequency-set -g performance\n")
	if wide := doctorScreen(doctored, 200); wide != want {
		t.Errorf("where there is room too a command has its line, got\n%s", wide)
	}
}

func TestAdviceViewWhereNothingIsWrong(t *testing.T) {
	want := "1 check: nothing known to disturb measurements\n"
	if got := doctorScreen(doctored[1:2], 80); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want = "unknown, absent  boost smt\n3 checks: 0 to look at, 1 fine, 2 unknown; nothing was changed\n"
	if got := doctorScreen(append(slices.Clone(doctored[1:2]), doctored[3:5]...), 80); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOutlookView(t *testing.T) {
	var b bytes.Buffer
	Outlook([]tune.Outlook{
		{Name: "aslr", Value: "off", Gains: "a"},
		{Name: "governor", OfMachine: true, Now: "powersave", Value: "performance", Gains: "b"},
		{Name: "turbo", OfMachine: true, Value: "off", Gains: "c"},
		{Name: "smt", OfMachine: true, Value: "off", Missing: "permission: needs root", Gains: "d"},
		{Name: "irq", OfMachine: true, Wants: "processors such as 0-1", Gains: "e"},
	}, 80).Render(&b, term.Page{Width: 80})
	const want = `aslr  off
    a
governor  powersave → performance
    b
turbo  off already
    c
smt  permission: needs root
    d
irq  =VALUE: processors such as 0-1
    e
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
