package term

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestViewNeverWraps: at any width every line fits, and the columns that matter most stay.
func TestViewNeverWraps(t *testing.T) {
	v := View{
		Above:   []string{"quickstart · builtin · tiny_linear · lab3"},
		Columns: []Column{{Header: "RUN"}, {Header: "BS", Right: true}, {Header: "P99", Right: true, Drop: 2}, {Header: "STATUS", Drop: 0}},
		Rows:    [][]Cell{{{Text: "M9F3QA7K"}, {Text: "16"}, {Text: "131 µs"}, {Text: "ok"}}, {{Text: "B2X8N4TE"}, {Text: "8"}, {Text: "–"}, {Text: "timeout", Failed: true}}},
		Below:   []string{"unsupported  builtin has fp32 and fp64, and this sentence is long enough to need two lines or three"},
	}
	for width := 26; width < 100; width++ {
		var b bytes.Buffer
		v.Render(&b, Page{Width: width})
		for line := range strings.SplitSeq(b.String(), "\n") {
			if ansi.StringWidth(line) > width {
				t.Errorf("at %d columns: %q", width, line)
			}
		}
		if !strings.Contains(b.String(), "M9F3QA7K") || !strings.Contains(b.String(), "timeout") {
			t.Errorf("at %d columns the run or its status is gone:\n%s", width, b.String())
		}
		if strings.Contains(b.String(), "\x1b") {
			t.Error("colour without colour")
		}
	}
	var b bytes.Buffer
	v.Compact = func() View {
		return View{Columns: []Column{{Header: "POINT"}}, Rows: [][]Cell{{{Text: "a=1 b=2"}}}}
	}
	v.Render(&b, Page{Width: 20})
	if !strings.HasPrefix(b.String(), "POINT") {
		t.Errorf("what does not fit is not made compact:\n%s", b.String())
	}
	v.Compact = nil
	b.Reset()
	v.Render(&b, Page{Width: 80, Color: true})
	if strings.Count(b.String(), Red) != 1 {
		t.Errorf("one failure, %d reds", strings.Count(b.String(), Red))
	}
	v.Rows[0][0].Text = "a\x1b[2Jb"
	b.Reset()
	v.Render(&b, Page{Width: 80})
	if strings.Contains(b.String(), "\x1b") {
		t.Error("a value steers the terminal")
	}
}

// TestHeadersAreCutBeforeValues: a long name of a parameter costs no value.
func TestHeadersAreCutBeforeValues(t *testing.T) {
	v := View{Columns: []Column{{Header: "tensor_dimension", Right: true}, {Header: "STATUS"}}, Rows: [][]Cell{{{Text: "65536"}, {Text: "ok"}}}}
	var b bytes.Buffer
	v.Render(&b, Page{Width: 14})
	if want := "tenso…  STATUS\n 65536  ok\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1204: "1,204", 1000000: "1,000,000"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d prints as %s", n, got)
		}
	}
}

// TestWrapped: the rest of a line stands under its second column, and only words that are too long are too wide.
func TestWrapped(t *testing.T) {
	for line, want := range map[string]string{
		"short":                          "short",
		"load  more wanted to run":       "load  more\n      wanted\n      to run",
		"  fail  RUN  some words":        "  fail  RUN\n        some\n        words",
		"one two three four":             "one two\nthree four",
		"  one two three":                "  one two\n  three",
		"unbreakable_path/of/a/file end": "unbreakable_path/of/a/file\nend",
		"one two 345 % four":             "one two\n345 % four",       // a percentage is one word
		"path  unbreakable/path/of":      "path  unbreakable/path/of", // a new line would not have more room
	} {
		if got := strings.Join(Wrapped(line, 12), "\n"); got != want {
			t.Errorf("%q wraps to\n%s\nwant\n%s", line, got, want)
		}
	}
}

// TestCommandsAreNotBroken: what is there to be copied can be.
func TestCommandsAreNotBroken(t *testing.T) {
	v := View{Below: []string{"a long line of words"}, Commands: []string{"  neurolens ls session=last"}}
	var b bytes.Buffer
	v.Render(&b, Page{Width: 10})
	if want := "a long\nline of\nwords\n  neurolens ls session=last\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	v.Markdown(&b)
	if !strings.Contains(b.String(), "\n  neurolens ls session=last\n") {
		t.Errorf("Markdown is\n%s", b.String())
	}
}

// TestMarkdownIsReadByOthers: commands to copy are in Markdown, those to type next are not.
func TestMarkdownIsReadByOthers(t *testing.T) {
	v := View{Below: []string{"below"}, Commands: []string{"a command"}, Next: []string{"next  another"}}
	var md, text bytes.Buffer
	v.Markdown(&md)
	v.Render(&text, Page{Width: 80})
	if md.String() != "below\n\na command\n\n" || text.String() != "below\na command\nnext  another\n" {
		t.Errorf("got %q and %q", md.String(), text.String())
	}
}

// TestNothingSteersTheTerminal: neither in seven bits nor in eight.
func TestNothingSteersTheTerminal(t *testing.T) {
	if got := OneLine("a\x1b[2J\tb\nc\u009b2Jd\x7f é"); got != "a·[2J b c·2Jd· é" {
		t.Errorf("got %q", got)
	}
	if got := OneLine("a\u202eb\u2066c\u200fd\u2028e\ufefff"); got != "a·b·c·d·e·f" { // what turns the direction of a text, too
		t.Errorf("got %q", got)
	}
}

// TestValuesBreakNoLine: a value of many lines, or of another direction, is one line wherever it stands.
func TestValuesBreakNoLine(t *testing.T) {
	const value = "two\nlines\u202e"
	v := View{
		Above: []string{"suite · " + value}, Below: []string{"word  " + value}, Commands: []string{"next  " + value},
		Columns: []Column{{Header: value}, {Header: "STATUS"}}, Rows: [][]Cell{{{Text: value}, {Text: "ok"}}},
	}
	var table, md bytes.Buffer
	v.Render(&table, Page{Width: 80})
	if want := "suite · two lines·\n\ntwo lines·  STATUS\ntwo lines·  ok\n\nword  two lines·\nnext  two lines·\n"; table.String() != want {
		t.Errorf("got\n%swant\n%s", table.String(), want)
	}
	v.Markdown(&md)
	if got := strings.Count(md.String(), "two lines·"); got != 5 || strings.Contains(md.String(), "\u202e") {
		t.Errorf("Markdown is\n%s", md.String())
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"a/b.yaml": "a/b.yaml", "a b": "'a b'", "it's": `'it'\''s'`, "a\tb": `"$(printf 'a\tb')"`, "caf\xe9": `"$(printf 'caf\351')"`, "\u202e": `"$(printf '\342\200\256')"`} {
		if got := ShellWord(in); got != want {
			t.Errorf("%q quotes as %s, want %s", in, got, want)
		}
	}
}
