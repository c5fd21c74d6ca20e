// Package tune holds a machine still while benchmarks run: clocks, siblings of a core, interrupts, and the address space, processors and
// priority of each process of a benchmark.
//
// Settings of the machine outlive a process, so they are changed in an order that a kill at any moment cannot harm. What is to be changed is
// read first, and written with the new values into the restore file, which is synced. Then a guard is started: this program again, in a
// session of its own, with a pipe whose other end this process holds alone. Only then the first value is written. Each is read back, and
// taken back if it is another one. When the pipe ends, because the process released it or is gone, the guard restores. If the guard is
// killed too, the file remains: the next holder, and Restore, restore from it. A value that is no longer the one that was set has been
// changed by somebody else: it stays, and is reported.
package tune

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The settings. The first three are of each process of a benchmark, the others of the machine, which need root.
const (
	ASLR     = "aslr"     // randomisation of addresses
	Nice     = "nice"     // priority
	Affinity = "affinity" // processors
	Governor = "governor" // of the clocks of the processors
	Turbo    = "turbo"    // clocks above the nominal one
	SMT      = "smt"      // several threads on a core
	IRQ      = "irq"      // processors that serve interrupts
	GPUClock = "gpu_clock"
	GPUPower = "gpu_power"
)

// setting describes a setting to users.
type setting struct {
	name string
	// value is the default. Empty: a value has to be given.
	value string
	wants string // the values that may be given; empty: none
	gains string // what holding it brings
}

var settings = []setting{
	{ASLR, "off", "", "processes have the same addresses, so runs do not differ by them"},
	{Nice, "-10", "a number from -20 to 19", "other programs wait for the benchmark, not the benchmark for them"},
	{Affinity, "", "processors such as 2-3", "the benchmark stays on these processors, and caches stay warm"},
	{Governor, "performance", "", "the clock does not follow the load"},
	{Turbo, "off", "", "the clock does not depend on heat and on how many cores are busy"},
	{SMT, "off", "", "no other thread shares a core with the benchmark; half of the processors disappear, so it has to be named"},
	{IRQ, "", "processors such as 0-1", "interrupts are served by these processors, away from the benchmark"},
	{GPUClock, "", "MHz, as 1410", "the clock of the GPUs does not follow load and heat; the driver has no getter, so it is reset afterwards"},
	{GPUPower, "", "W, as 250", "the power limit of the GPUs is the same on each machine"},
}

// Default is the word for all settings that have a default, except SMT.
const Default = "default"

// Names returns the names of all settings, in a fixed order.
func Names() []string {
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = s.name
	}
	return names
}

func settingOf(name string) setting {
	at := slices.IndexFunc(settings, func(s setting) bool { return s.name == name })
	if at < 0 {
		return setting{}
	}
	return settings[at]
}

// Wish is a setting that is to be held at a value.
type Wish struct{ Name, Value string }

// Parse reads the settings to hold: names, NAME=VALUE, and default. The result is in the order of Names.
func Parse(words []string) ([]Wish, error) {
	values := map[string]string{}
	for _, word := range words {
		name, value, given := strings.Cut(word, "=")
		s := settingOf(name)
		switch {
		case word == Default:
			for _, s := range settings {
				if s.value != "" && s.name != SMT && values[s.name] == "" { // with half of the processors it is another machine
					values[s.name] = s.value
				}
			}
			continue
		case s.name == "":
			return nil, fmt.Errorf("setting %q: want %s, or one of %s", word, Default, strings.Join(Names(), " "))
		case given && s.wants == "":
			return nil, fmt.Errorf("setting %q: %s takes no value", word, name)
		case !given && s.value == "":
			return nil, fmt.Errorf("setting %q: want %s=VALUE: %s", word, name, s.wants)
		case !given:
			value = s.value
		default:
			if err := check(name, value); err != nil {
				return nil, fmt.Errorf("setting %q: want %s", word, s.wants)
			}
		}
		values[name] = value
	}
	var wishes []Wish
	for _, name := range Names() {
		if value := values[name]; value != "" {
			wishes = append(wishes, Wish{name, value})
		}
	}
	return wishes, nil
}

// check refuses a value that a setting cannot have.
func check(name, value string) error {
	switch name {
	case Affinity, IRQ:
		_, err := processors(value)
		return err
	case Nice:
		if n, err := strconv.Atoi(value); err != nil || n < -20 || n > 19 {
			return fmt.Errorf("nice %q", value)
		}
		return nil
	}
	if n, err := strconv.ParseUint(value, 10, 31); err != nil || n == 0 {
		return fmt.Errorf("number %q", value)
	}
	return nil
}

// maxProcessors is more than any machine has.
const maxProcessors = 1 << 13

// processors reads a list of processors as the kernel writes it: 0-1,4.
func processors(text string) (list []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.ParseUint(low, 10, 31)
		last, err2 := strconv.ParseUint(high, 10, 31)
		if err1 != nil || err2 != nil || last < first || last >= maxProcessors {
			return nil, fmt.Errorf("processors %q: want a list such as 0-1,4", text)
		}
		for n := first; n <= last; n++ {
			list = append(list, int(n))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// Fact is the prefix of the facts with the settings that were held; the name of the setting follows.
const Fact = "tune."

// Result is what became of a wish.
type Result struct {
	Name    string
	Value   string // that is held, read back; empty: it is not held
	Missing string // why not: a word (absent, permission, unsupported), a colon, and details
}

// Process are the settings of each process of a benchmark. The zero value changes nothing.
type Process struct {
	FixedAddresses bool  `json:"fixed_addresses,omitempty"`
	Nice           *int  `json:"nice,omitempty"`
	Processors     []int `json:"processors,omitempty"` // nil: all
}

// ProcessOf returns the wishes that are settings of processes.
func ProcessOf(wishes []Wish) (p Process) {
	for _, w := range wishes {
		switch w.Name {
		case ASLR:
			p.FixedAddresses = true
		case Nice:
			if n, err := strconv.Atoi(w.Value); err == nil {
				p.Nice = &n
			}
		case Affinity:
			p.Processors, _ = processors(w.Value) // it was parsed once already
		}
	}
	return p
}

// None reports whether nothing is to be changed.
func (p Process) None() bool { return !p.FixedAddresses && p.Nice == nil && p.Processors == nil }
