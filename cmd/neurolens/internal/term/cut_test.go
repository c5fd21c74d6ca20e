package term

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestRowsDiffer: texts that are too long are cut so that the rows can be told apart.
func TestRowsDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range [][]string{
		{"org.example.bench.MapBenchmark.get", "org.example.bench.MapBenchmark.put", "org.example.bench.MapBenchmark.remove"},
		{"tests/test_speed.py::test_insert[small-one]", "tests/test_speed.py::test_insert[small-two]", "tests/test_delete.py::test_insert[small-two]"},
		{"chat tiny-7b-chat max_seqs=4 prompts=4 rate=inf", "chat tiny-7b-chat max_seqs=16 prompts=4 rate=inf", "chat tiny-7b-chat max_seqs=64 prompts=4 rate=inf", "–"},
		{"short", "other"},
		{"attention_with_a_very_long_forward_pass bs=16 dim=64", "attention_with_a_very_long_backward_pass bs=16 dim=64", "attention_with_a_very_long_forward_pass bs=8 dim=64"},
	} {
		v := View{Columns: []Column{{Header: "POINT"}}}
		for _, text := range c {
			v.Rows = append(v.Rows, []Cell{{Text: text}})
		}
		got := v.cutColumn(0, 20)
		if CountDistinct(got) < len(c) {
			t.Errorf("%q is cut to %q", c, got)
		}
		for _, text := range got {
			if ansi.StringWidth(text) > 20 {
				t.Errorf("%q is wider than 20", text)
			}
		}
	}
}

// TestLongCommand: a command with many spaces makes neither blank lines nor lines wider than the terminal.
func TestLongCommand(t *testing.T) {
	t.Parallel()
	command := "sh -c '" + strings.Repeat("x", 30) + "\n" + strings.Repeat(" ", 400) + "grep one" + strings.Repeat(" ", 90) + "grep two'"
	for _, line := range append(Wrapped(command, 80), Wrapped(Heading([]string{"lab3", command})[0], 80)...) {
		if strings.TrimSpace(line) == "" || ansi.StringWidth(line) > 80 {
			t.Errorf("a line of %d: %q", ansi.StringWidth(line), line)
		}
	}
}

// TestLongNamesCostNoColumn: names are cut before a column of values goes, as long as they differ; what reads all of a page, as a
// file does, has them whole.
func TestLongNamesCostNoColumn(t *testing.T) {
	t.Parallel()
	const long = "./bench_attention --causal --head-dim 128 --implementation "
	v := View{
		Columns: []Column{{Header: "VARIANT"}, {Header: "MEDIAN", Right: true}, {Header: "P99", Right: true, Drop: 1}},
		Rows:    [][]Cell{{{Text: long + "flash"}, {Text: "103 µs"}, {Text: "124 µs"}}, {{Text: long + "eager"}, {Text: "146 µs"}, {Text: "175 µs"}}},
	}
	for _, c := range []struct {
		page Page
		want string
	}{
		{Page{Width: 40}, "VARIANT               MEDIAN     P99\n./bench_attent…flash  103 µs  124 µs\n./bench_attent…eager  146 µs  175 µs\n"},
		{Page{Width: 40, Whole: true}, "VARIANT" + strings.Repeat(" ", 57) + "  MEDIAN\n" + long + "flash  103 µs\n" + long + "eager  146 µs\n"},
	} {
		var b strings.Builder
		v.Render(&b, c.page)
		if b.String() != c.want {
			t.Errorf("at %+v\n%swant\n%s", c.page, b.String(), c.want)
		}
	}
	v.Rows[1][0].Text = strings.Repeat("other ", 11) // no beginning in common: half of the terminal
	var b strings.Builder
	v.Render(&b, Page{Width: 40})
	if want := "VARIANT               MEDIAN     P99\n./bench_a…tion flash  103 µs  124 µs\nother oth…her other   146 µs  175 µs\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// TestOneLongName: a name that all rows have shows its end as well, where versions differ.
func TestOneLongName(t *testing.T) {
	t.Parallel()
	v := View{Columns: []Column{{Header: "VARIANT"}}}
	for range 2 {
		v.Rows = append(v.Rows, []Cell{{Text: "forward_pass_with_flash_attention_kernel_v3_causal"}})
	}
	if got, want := v.cutColumn(0, 32), "forward_pass_wi…kernel_v3_causal"; got[0] != want || got[1] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestShortNames: names that differ still do, in one line of bounded width, and others stay as they are.
func TestShortNames(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, names := range [][]string{{"a", "b"}, {long, "b"}, {"a" + long, "b" + long}, {long + "a" + long, long + "b" + long}, {long, long}, {"a\nb", long}} {
		short := ShortNames(names)
		if widest(short) > longest || CountDistinct(short) != CountDistinct(names) {
			t.Errorf("%.20q: %q", names, short)
		}
	}
	if got := ShortNames([]string{"a\nb"}); got[0] != "a\nb" {
		t.Errorf("a short name is %q", got[0])
	}
	v := View{Columns: []Column{{Header: "NAME"}, {Header: "MEDIAN", Right: true}}, Rows: [][]Cell{{{Text: strings.Repeat("n", 300)}, {Text: "1 s"}}, {{Text: "short"}, {Text: "2 s"}}}}
	var out strings.Builder
	v.Render(&out, Page{Width: 120, Whole: true})
	for line := range strings.Lines(out.String()) {
		if Width(line) > longest+20 {
			t.Errorf("a row has %d columns", Width(line))
		}
	}
	if v.Rows[0][0].Text != strings.Repeat("n", 300) {
		t.Error("the view was changed")
	}
	if heading := Heading([]string{"a", long}); Width(heading[0]) > longest+10 {
		t.Errorf("a title has %d columns", Width(heading[0]))
	}
}

// TestSharedPartsGoFirst: names lose what they all share, and keep the letters in which they differ.
func TestSharedPartsGoFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width       int
		names, want []string
	}{
		{18, []string{"example.com/wire.BenchmarkEncode size=1k", "example.com/wire.BenchmarkDecode size=1M"}, []string{"…Encode size=1k", "…Decode size=1M"}},
		{
			19,
			[]string{"example.com/texts/Join gomaxprocs=2 n=10", "example.com/texts/Join gomaxprocs=2 n=100", "example.com/texts/Sum gomaxprocs=2", "commands"},
			[]string{"…Join n=10", "…Join n=100", "…Sum", "commands"},
		},
		{10, []string{"texts.py:bench_join n=10", "texts.py:bench_join n=1000"}, []string{"…n=10", "…n=1000"}},
		{24, []string{"pack file=/srv/data/words.txt", "sort file=/srv/data/names.txt"}, []string{"pack file=…words…", "sort file=…names…"}},
		{12, []string{"encoder_layer_alpha_with_fused_bias", "encoder_layer_beta_with_fused_bias"}, []string{"…alpha…", "…beta…"}},
		{20, []string{"t.py::test_of_a_cache[float32-eager-8]", "t.py::test_of_a_cache[bfloat16-eager-16]"}, []string{"…float32-eager-8]", "…bfloat16-eager-16]"}},
		{12, []string{"encoder_layer_forward", "encoder_layer_backward"}, []string{"…forward", "…backward"}},
		{9, []string{"bs=1 fp16", "bs=64 fp32"}, []string{"bs=1 fp16", "bs=… fp32"}}, // short words stay
	} {
		got := CutApart(c.names, c.width)
		if c.width == 9 {
			if CountDistinct(got) != 2 || widest(got) > 9 {
				t.Errorf("%q is cut to %q", c.names, got)
			}
			continue
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%q is cut to %q, want %q", c.names, got, c.want)
		}
	}
}

// TestPointsInATerminal: in 80 columns, points in one column keep the benchmark's own name and each value's axis.
func TestPointsInATerminal(t *testing.T) {
	t.Parallel()
	v := View{Columns: []Column{
		{Header: "point"},
		{Header: "BASE", Right: true},
		{Header: "HEAD", Right: true},
		{Header: "CHANGE", Right: true},
		{Header: "95 %", Right: true},
		{Header: "VERDICT"},
	}}
	for _, name := range []string{"example.com/texts/Sum gomaxprocs=2", "example.com/texts/Join gomaxprocs=2 n=100", "example.com/texts/Join gomaxprocs=2 n=10", "commands"} {
		row := []Cell{{Text: name}}
		for _, text := range []string{"57.1 ns", "155 ns", "−51.8 % pairwise", "−82.2 +70.4", "inconclusive"} {
			row = append(row, Cell{Text: text})
		}
		v.Rows = append(v.Rows, row)
	}
	var b strings.Builder
	v.Render(&b, Page{Width: 80})
	const values = "  57.1 ns  155 ns  −51.8 % pairwise  −82.2 +70.4  inconclusive\n"
	for _, name := range []string{"example…Sum       ", "example…Join n=100", "example…Join n=10 ", "commands          "} {
		if !strings.Contains(b.String(), name+values) {
			t.Errorf("no row %q in\n%s", name, b.String())
		}
	}
}
