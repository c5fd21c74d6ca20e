package profiler

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

const perfScript = `python3  2660  3699.930964:     250000 cpu-clock:pppH: 
	           150af handle_intel.constprop.0+0x2f (/usr/lib/ld-linux-x86-64.so.2)
	               0 [unknown] ([unknown])

Web Content 12/13 [001] 3699.931: 250000 cpu-clock:pppH: 
	ffffffff821e7c63 xas_load+0x53 ([kernel.kallsyms])
	    81e3 std::vector<int>::at(unsigned long) const;x+0x3 (/opt/a (deleted))

python3  2660  3699.931208:     250000 cpu-clock:pppH: 
	           150af handle_intel.constprop.0+0x1f (/usr/lib/ld-linux-x86-64.so.2)
	               0 [unknown] ([unknown])
`

const pySpyRaw = ` 2
<module> (<string>:1);<module> (neurolens_worker.py:900);run (neurolens_worker.py:260);set_up (neurolens_worker.py:300);<module> (b.py:1) 7
<module> (<string>:1);<module> (neurolens_worker.py:900);run (neurolens_worker.py:260);profile (neurolens_worker.py:401);within (neurolens_profiled.py:35);durations (neurolens_profiled.py:24);bench_b (b.py:4);f (b.py:2) 5
<module> (<string>:1);<module> (neurolens_worker.py:900);run (neurolens_worker.py:260);profile (neurolens_worker.py:401);within (neurolens_profiled.py:35);durations (neurolens_profiled.py:24) 3
`

// TestFold: samples are counted by stack, from the outermost frame on; of a worker, only those of its measured iterations.
func TestFold(t *testing.T) {
	for _, c := range []struct {
		fold       func(io.Reader, io.Writer) error
		text, want string
	}{
		{
			foldPerf, perfScript,
			"Web Content;std::vector<int>::at(unsigned long) const:x;xas_load 1\npython3;[unknown];handle_intel.constprop.0 2\n",
		},
		{foldPerf, "", ""},
		{foldPySpy, pySpyRaw, "bench_b (b.py:4);f (b.py:2) 5\n"},
		{foldPySpy, "<module> (a.py:5);f (a.py:4) 50\n<module> (a.py:5) 1\n", "<module> (a.py:5) 1\n<module> (a.py:5);f (a.py:4) 50\n"},
	} {
		var out strings.Builder
		valuetest.OK(t, c.fold(strings.NewReader(c.text), &out))
		valuetest.DeepEqual(t, out.String(), c.want, c.text)
	}
	valuetest.Fails(t, foldPySpy(strings.NewReader("a;b\n"), io.Discard), "line 1 is no stack")
}

// FuzzFold: whatever a profiler prints, what is made of it is folded stacks, which fold to themselves.
func FuzzFold(f *testing.F) {
	f.Add([]byte(perfScript))
	f.Add([]byte(pySpyRaw))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, fold := range []func(io.Reader, io.Writer) error{foldPerf, foldPySpy} {
			var once, twice bytes.Buffer
			if fold(bytes.NewReader(text), &once) != nil || strings.Contains(once.String(), workerFile) {
				continue
			}
			valuetest.OK(t, foldPySpy(bytes.NewReader(once.Bytes()), &twice))
			valuetest.Equal(t, twice.String(), once.String())
		}
	})
}
