package task

import "testing"

func FuzzParsePeak(f *testing.F) {
	f.Add([]byte("Name:\tx\nVmPeak:\t  100 kB\nVmHWM:\t    1176 kB\nVmRSS:\t 9 kB\n"))
	f.Add([]byte("\nVmHWM:-1 kB\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if peak, ok := parsePeak(text); ok && peak < 0 {
			t.Errorf("%q: %d", text, peak)
		}
	})
}

func TestParsePeak(t *testing.T) {
	for text, want := range map[string]int64{
		"Name:\tx\nVmHWM:\t    1176 kB\nVmRSS:\t 9 kB\n": 1176 << 10,
		"Name:\tkthread\n":  -1,
		"\nVmHWM:\t-1 kB\n": -1,
		"\nVmHWM:\t12 MB\n": -1,
	} {
		got, ok := parsePeak([]byte(text))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d %t, want %d", text, got, ok, want)
		}
	}
}
