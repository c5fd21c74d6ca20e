package counter

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestReasons opens counters where the kernel refuses them.
func TestReasons(t *testing.T) {
	for _, c := range []struct {
		name     string
		err      error // of a counter that counts in the kernel too
		userErr  error // of one that does not
		missing  string
		userOnly bool
		tries    int
	}{
		{name: Instructions, err: unix.ENOENT, missing: "absent: no performance counters (PMU), as in most virtual machines", tries: 1},
		{name: Cycles, err: unix.EOPNOTSUPP, missing: "absent: no performance counters (PMU), as in most virtual machines", tries: 1},
		{name: Instructions, err: unix.EACCES, userOnly: true, tries: 2},
		{name: PageFaults, err: unix.EACCES, userErr: unix.EACCES, missing: "permission: sudo sysctl kernel.perf_event_paranoid=2", userOnly: true, tries: 2},
		{name: Instructions, err: unix.EACCES, userErr: unix.ENOENT, missing: "absent: no performance counters (PMU), as in most virtual machines", userOnly: true, tries: 2},
		{name: ContextSwitches, err: unix.EACCES, missing: "permission: sudo sysctl kernel.perf_event_paranoid=1", tries: 1},
		{name: TaskClock, err: unix.EPERM, missing: "permission: a container needs --cap-add PERFMON", tries: 1},
		{
			name: TaskClock, err: unix.ENOSYS, tries: 1,
			missing: "unsupported: the kernel has no perf events, or seccomp hides them: a container needs --cap-add PERFMON",
		},
		{name: PageFaults, err: unix.EINVAL, missing: "unsupported: perf_event_open: invalid argument", tries: 1},
		{name: PageFaults, tries: 1},
	} {
		t.Run(fmt.Sprintf("%s/%v/%v", c.name, c.err, c.userErr), func(t *testing.T) {
			tries := 0
			counters := open([]string{c.name}, 17, func(attr *attributes, pid int) (int, error) {
				tries++
				valuetest.Equal(t, pid, 17)
				err := c.err
				if attr.Bits&unix.PerfBitExcludeKernel != 0 {
					err = c.userErr
				}
				if err != nil {
					return -1, err
				}
				return unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			})
			defer Close(counters)
			got := counters[0]
			valuetest.Equal(t, got.Name, c.name)
			valuetest.Equal(t, got.Missing, c.missing)
			valuetest.Equal(t, got.UserOnly, c.userOnly)
			valuetest.Equal(t, got.FD() < 0, c.missing != "")
			valuetest.Equal(t, tries, c.tries)
		})
	}
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		name    string
		reading Reading
		events  int64
		known   bool
	}{
		{Instructions, Reading{1000, 50, 50}, 1000, true},
		{Instructions, Reading{1000, 50, 25}, 2000, true},                 // it had every second turn
		{Instructions, Reading{1 << 60, 1 << 60, 1 << 59}, 1 << 61, true}, // no overflow in between
		{Instructions, Reading{0, 50, 50}, 0, false},                      // no program has none
		{Instructions, Reading{0, 50, 0}, 0, false},
		{PageFaults, Reading{0, 50, 50}, 0, true},
		{PageFaults, Reading{0, 50, 0}, 0, false},
		{CacheMisses, Reading{-3, 50, 50}, 0, false},
	} {
		events, known := c.reading.Events(c.name)
		if events != c.events || known != c.known {
			t.Errorf("%s %+v: got %d, %t, want %d, %t", c.name, c.reading, events, known, c.events, c.known)
		}
	}
	valuetest.Equal(t, Reading{5, 7, 6}.Since(Reading{1, 2, 3}), Reading{4, 5, 3})
}

func TestReadNoCounter(t *testing.T) {
	null := valuetest.Must(os.Open(os.DevNull))
	defer null.Close()
	var buffer [ReadingSize]byte
	_, err := Read(int(null.Fd()), &buffer)
	valuetest.ErrorText(t, err, "reading a counter: 0 B: want 24")
}

// TestNames: each counter has an event, and no event lacks a counter.
func TestNames(t *testing.T) {
	valuetest.Equal(t, len(events), len(Names()))
	for _, name := range Names() {
		if _, there := events[name]; !there {
			t.Errorf("no event for %s", name)
		}
	}
}

// attrField finds a field of what perf stat -vv asks the kernel for. Values of 0 are not printed.
var attrField = regexp.MustCompile(`(?m)^ +(type|config) +(0x[0-9a-f]+|\d+)`)

// TestEventsOfPerf compares the events with those of perf stat, which prints what it asks for, also where the kernel refuses it.
func TestEventsOfPerf(t *testing.T) {
	perf := valuetest.Program(t, "perf")
	for name, e := range events {
		cmd := exec.Command(perf, "stat", "-vv", "-e", strings.ReplaceAll(name, "_", "-"), "true")
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		text, err := cmd.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
			t.Fatal(err)
		}
		_, attr, there := strings.Cut(string(text), "perf_event_attr:")
		if !there {
			t.Fatalf("perf stat -vv -e %s:\n%s", name, text)
		}
		attr, _, _ = strings.Cut(attr, "\n----")
		got := map[string]uint64{}
		for _, m := range attrField.FindAllStringSubmatch(attr, -1) {
			got[m[1]] = valuetest.Must(strconv.ParseUint(m[2], 0, 64))
		}
		const ofKind = 1<<32 - 1 // the rest is a kind of core
		if got["type"] != uint64(e.kind) || got["config"]&ofKind != e.config {
			t.Errorf("%s: type %d, config %d, perf asks for %v", name, e.kind, e.config, got)
		}
	}
}
