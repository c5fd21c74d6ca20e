package schema

import "testing"

func TestCause(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"a: wrote 1234 B, more than 1024 B":  "a: wrote # #, more than # #",
		"measure took more than 1m30s":       "measure took more than #",
		"exit status 2: at 0x7ffe12, pid 77": "exit status 2: at #, pid #",
		"index 5 is out of bounds (size=10)": "index # is out of bounds (size=#)",
		"Tried to allocate 2.00 GiB. GPU 0 ": "Tried to allocate # # GPU # ",
		"rmse is 1.5e-05, more than 1e-6":    "rmse is #, more than #",
		"CUDA error 700, line 12: no 3rd":    "CUDA error 700, line 12: no 3rd",
		"run-12/v2.py:7: KeyError: fp16":     "run-12/v2.py:7: KeyError: fp16",
		"HTTP 404, 50% after 12ms":           "HTTP 404, # after #",
	} {
		if got := Cause(text); got != want {
			t.Errorf("%q is caused by %q, want %q", text, got, want)
		}
	}
}
