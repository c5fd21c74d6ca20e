package sweep

import "testing"

func TestSpans(t *testing.T) {
	values := func(text string, o Overrides) (all []string) {
		t.Helper()
		for _, p := range parse(t, "command: [sleep, '{n}']\n"+text, o).Points {
			all = append(all, p.Command[1])
		}
		return all
	}
	for text, want := range map[string][]string{
		"1..4":           {"1", "2", "3", "4"},
		"1..8..3":        {"1", "4", "7"},
		"-1..1":          {"-1", "0", "1"},
		"0.1..0.5..0.2":  {"0.1", "0.3", "0.5"},
		"0.5..2..0.5":    {"0.5", "1", "1.5", "2"},
		"1..100*4":       {"1", "4", "16", "64"},
		"8..8":           {"8"},
		"[1..2, 5]":      {"1", "2", "5"},
		"'1..4'":         {"1..4"}, // what is quoted is text
		"a..c":           {"a..c"},
		"v1..v4":         {"v1..v4"},
		"[0.25..1*2, 7]": {"0.25", "0.5", "1", "7"},
	} {
		equal(t, values("grid: {n: "+text+"}\n", Overrides{}), want)
	}
	equal(t, values("", Overrides{Params: map[string]string{"n": "1..3,10"}}), []string{"1", "2", "3", "10"})
	refuse := func(text, want string) {
		t.Helper()
		_, err := readText("sweep.yaml", []byte("command: [sleep, '{n}']\ngrid: {n: "+text+"}\n"), Overrides{})
		if err == nil || err.Error() != "sweep.yaml:2: axis n: "+want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	refuse("4..1", "4..1: want the lower end first")
	refuse("1..4..0", "1..4..0: want a step above 0")
	refuse("1..4*1", "1..4*1: want a factor above 1, and a first number above 0")
	refuse("0..4*2", "0..4*2: want a factor above 1, and a first number above 0")
	refuse("1..20000", "1..20000: more than 10000 values")
	for _, text := range []string{"1...4", "1..x", "1e0..1e3*10", "1..1k"} {
		refuse(text, text+": want a span of numbers (1..8, 1..8..2, 1..1024*2), or quotes around a text")
	}
	refuse("[1..3, 2]", "2 appears twice")
}
