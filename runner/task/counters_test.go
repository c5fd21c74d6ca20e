package task

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// touched is the memory that the test worker touches in one iteration, in B.
const touched = 40 << 20

// touch maps memory, and writes to each of its pages.
func touch() {
	memory, err := unix.Mmap(-1, 0, touched, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		panic(err)
	}
	_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE) // a kernel without huge pages refuses it
	for i := 0; i < len(memory); i += os.Getpagesize() {
		memory[i] = 1
	}
	_ = unix.Munmap(memory)
}

// needCounters skips a test where page faults cannot be counted.
func needCounters(t *testing.T) {
	t.Helper()
	counters := counter.Open([]string{counter.PageFaults}, 0)
	counter.Close(counters)
	if why := counters[0].Missing; why != "" {
		valuetest.Have(t, "counters", errors.New("page faults: "+why))
	}
}

// TestWorkerCounters counts the page faults of known work in the measure stage of a worker, on average over its iterations.
func TestWorkerCounters(t *testing.T) {
	needCounters(t)
	spec := builtin("touch")
	spec.Warmup, spec.Iterations, spec.Counters = 1, 4, counter.Names()
	o := runOK(t, spec)
	faults := metric(t, o, counter.PageFaults)
	valuetest.Equal(t, faults.Level, schema.LevelMean)
	valuetest.Equal(t, faults.Clock, clockCounter)
	valuetest.DeepEqual(t, faults.IterationsPerSample, []int64{4})
	want := float64(touched / os.Getpagesize())
	if values := faults.Values(); len(values) != 1 {
		t.Errorf("page faults %v: want one value", values)
	} else {
		valuetest.Near(t, values[0], want, want/100)
	}
	valuetest.OK(t, faults.Validate())
	checkCounters(t, o)
}

// TestCommandCounters: a command has a value for each process, its children included, and none for what runs around it.
func TestCommandCounters(t *testing.T) {
	needCounters(t)
	dd := valuetest.Program(t, "dd") + " if=/dev/zero of=/dev/null bs=40M count=1 2>/dev/null"
	spec := shell(dd + "; true")
	spec.Warmup, spec.Counters = 1, counter.Names()
	spec.Hooks.Prepare = []string{"sh", "-c", dd}
	o := runOK(t, spec)
	faults := metric(t, o, counter.PageFaults)
	valuetest.Equal(t, faults.Level, schema.LevelProcess)
	want := int64(touched / os.Getpagesize())
	for _, n := range faults.Ticks {
		if n < want || n > want*3/2 {
			t.Errorf("%d page faults: want %d for the memory, and some for sh and dd", n, want)
		}
	}
	valuetest.Equal(t, len(faults.Ticks), 3)
	checkCounters(t, o)

	spec.Counters = nil
	o = runOK(t, spec)
	for _, m := range o.Metrics {
		if m.Clock == clockCounter {
			t.Errorf("%s was not asked for", m.Name)
		}
	}
}

// checkCounters: each counter has a value, or a reason why it has none.
func checkCounters(t *testing.T, o Outcome) {
	t.Helper()
	has := map[string]bool{}
	for _, m := range o.Metrics {
		has[m.Name] = true
	}
	for _, name := range counter.Names() {
		if why := o.Missing[name]; has[name] == (why != "") {
			t.Errorf("%s: a value: %t, a reason why there is none: %q", name, has[name], why)
		}
	}
	clock := metric(t, o, counter.TaskClock)
	if clock.Unit != "ns" || clock.Values()[0] < 1e5 {
		t.Errorf("task_clock %v %s: want the time of 10,240 page faults", clock.Values(), clock.Unit)
	}
}

// TestCounterUnknown: a counter that does not exist is refused before anything starts.
func TestCounterUnknown(t *testing.T) {
	spec := shell("true")
	spec.Counters = []string{"instruction"}
	_, err := testPool(t).Run(t.Context(), spec, nil)
	valuetest.Fails(t, err, `counter "instruction": want one of [instructions`)
}

// TestMultiplexed: the values of counters that took turns are scaled and marked, and those that had no turn are missing.
func TestMultiplexed(t *testing.T) {
	names := []string{counter.Instructions, counter.Cycles, counter.CacheMisses, counter.PageFaults}
	r := &run{measured: 10}
	r.job.Counters = names
	r.reports.latency.IterationsPerSample = []int64{5}
	r.reports.counts = map[string]counter.Reading{
		counter.Instructions: {Count: 1000, Enabled: 100, Running: 50},
		counter.Cycles:       {Count: 0, Enabled: 100, Running: 0},
		counter.CacheMisses:  {Count: 100, Enabled: 100, Running: 100},
	}
	o := Outcome{Facts: map[string]string{}, Missing: map[string]string{counter.PageFaults: "permission"}}
	r.counters(&o)
	instructions, misses := metric(t, o, counter.Instructions), metric(t, o, counter.CacheMisses)
	valuetest.Near(t, instructions.Values()[0], 40, 1e-9) // 2,000 in 50 iterations
	valuetest.Near(t, misses.Values()[0], 2, 1e-9)
	valuetest.Equal(t, len(o.Metrics), 2)
	valuetest.Equal(t, o.Facts[FactMultiplexed], counter.Instructions)
	valuetest.DeepEqual(t, o.Warnings, []string{WarnMultiplexed})
	valuetest.Contains(t, o.Missing[counter.Cycles], "no turn")
	valuetest.Equal(t, o.Missing[counter.PageFaults], "permission")
	if !Multiplexed(o.Facts, counter.Instructions) || Multiplexed(o.Facts, counter.CacheMisses) {
		t.Errorf("multiplexed: %v", o.Facts)
	}
}

// TestKeepMultiplexed: the same for the processes of a command.
func TestKeepMultiplexed(t *testing.T) {
	c := newCounting([]string{counter.Instructions, counter.Cycles}, []int{-1, -1})
	c.to = []counter.Reading{{Count: 10, Enabled: 4, Running: 2}, {Count: 0, Enabled: 4, Running: 0}}
	c.rows = [][]int64{{unset, unset}, {unset, unset}}
	var written strings.Builder
	s := &sender{w: &written}
	for row := range 2 {
		c.keep(row, s)
	}
	s.flush()
	valuetest.DeepEqual(t, c.rows, [][]int64{{20, 20}, {unset, unset}})
	valuetest.Equal(t, written.String(), `{"event":"fact","key":"counters.multiplexed","value":"instructions"}`+"\n")
}

// BenchmarkCounters measures by turns a short program with all counters and without: the ratio of the medians is what counters add to the
// timed part, which starts a process that inherits them. Opening and reading them is outside of it.
func BenchmarkCounters(b *testing.B) {
	took := map[bool][]int64{}
	for range b.N {
		for _, with := range []bool{false, true} {
			spec := commandSpec(valuetest.Program(b, "true"))
			spec.Warmup, spec.Iterations = 5, 200
			if with {
				spec.Counters = counter.Names()
			}
			took[with] = append(took[with], metric(b, runOK(b, spec), schema.PrimaryMetric).Ticks...)
		}
	}
	b.ReportMetric(float64(median(took[true]))/float64(median(took[false])), "with/without")
	b.ReportMetric(float64(median(took[true])-median(took[false])), "added-ns")
}
