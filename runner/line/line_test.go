package line

import (
	"strings"
	"testing"
)

func TestSweep(t *testing.T) {
	check := func(l line, want string) {
		t.Helper()
		got, err := l.sweep()
		if err != nil || string(got) != want {
			t.Errorf("%+v\ngot  %s (%v)\nwant %s", l, got, err, want)
		}
	}
	check(line{Texts: []string{"sort  -n 'a b'"}}, `suite: commands
benchmark: commands
variant: sort  -n 'a b'
command: [sort, -n, a b]
`)
	check(line{Texts: []string{"true", "sleep {n}", "awk '{print {n}}'"}, Axes: []string{"n"}}, `suite: commands
benchmark: commands
variants:
    "true":
        command: ["true"]
    sleep {{n}}:
        command: [sleep, '{n}']
    awk '{{print {{n}}}}':
        command: [awk, '{{print {n}}}']
baseline: variant=true
`)
	check(line{Texts: []string{"sh -c 'seq 9 | sort'"}}, `suite: commands
benchmark: commands
variant: sh -c 'seq 9 | sort'
command: [sh, -c, seq 9 | sort]
`)
	check(line{Texts: []string{"perf/bench.py:softmax"}}, "suite: bench.py:softmax\nfile: perf/bench.py:softmax\n")
	check(line{Texts: []string{"nets/add.onnx"}}, "suite: add.onnx\nbackend: onnxrt\nmodel: nets/add.onnx\n")
	text, err := joined([]string{"echo", "a b", "$HOME", "{n}", ""})
	if err != nil {
		t.Fatal(err)
	}
	words, err := split(text)
	if err != nil || strings.Join(words, "|") != "echo|a b|$HOME|{n}|" {
		t.Errorf("%q, %v", words, err)
	}
}
