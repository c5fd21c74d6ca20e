package sweep

import (
	"testing"
)

// TestWork: work is worked out at each point; what needs something that is NULL there is NULL.
func TestWork(t *testing.T) {
	beginning := "file: x.py\ngrid: {batch_size: [2, 4]}\nwork: "
	for _, test := range []struct{ work, first, second string }{
		{"{items: 1}", `{"items":1}`, `{"items":1}`},
		{"{items: batch_size}", `{"items":2}`, `{"items":4}`},
		{"{bytes: 2 * 4 * batch_size * 1e6, flops: batch_size ** 3}", `{"bytes":16000000,"flops":8}`, `{"bytes":32000000,"flops":64}`},
		{"{bytes: batch_size / 3}", `{"bytes":1}`, `{"bytes":1}`},
		{"{items: 0}", `{"items":0}`, `{"items":0}`},
		{"{items: seq_len, flops: batch_size}", `{"flops":2}`, `{"flops":4}`},
		{"{items: gpu.memory / 2}", "{}", "{}"},
		{"{items: 1 / (batch_size - 2)}", "{}", `{"items":0.5}`},
		{"{}", "{}", "{}"},
	} {
		s := parse(t, beginning+test.work+"\n", Overrides{Facts: here(t, nil)})
		if first, second := s.Points[0].Settings()["work"], s.Points[1].Settings()["work"]; first != test.first || second != test.second {
			t.Errorf("%s: %s and %s, want %s and %s", test.work, first, second, test.first, test.second)
		}
	}
	if s := parse(t, "file: x.py\n", Overrides{}); s.Points[0].Work != nil || s.Points[0].Settings()["work"] != "" {
		t.Error("a sweep without work has some")
	}
	s := parse(t, "file: x.py\ngrid: {k: [0, 1]}\nskip_if: {when: k == 0}\nwork: {items: 1 - 2 * (1 - k)}\n", Overrides{})
	if len(s.Points) != 1 || s.Skipped[0].Work != nil {
		t.Error("the work of a point that is skipped was worked out")
	}
}

func TestErrorsOfWork(t *testing.T) {
	check := refuses(t, "file: x.py\ngrid: {k: [1, 2], v: [a, b]}\nwork: ")
	check("3", "3: work: want a map, got 3")
	check("{item: 3}", "3: work: unknown key item: did you mean items?")
	check("{items: max(k, 2)}", "3: work: unknown key 2): quote the expression, because YAML ends it at the comma")
	check("{items: }", "3: work.items: want an expression, got nothing")
	check("{items: [1]}", "3: work.items: want an expression, got a list")
	check("{items: true}", "3: work.items: 1:1: want a number, got true or false")
	check("{items: v}", "3: work.items: 1:1: want a number, got text")
	check("{items: kk}", "3: work.items: 1:1: unknown name kk: did you mean k?")
	check("{flops: 1 - k}", "3: work.flops: want an amount of at least 0, got -1")
	check("{bytes: 1e19}", "3: work.bytes: 1e+19 bytes are more than 2**63")
}
