package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/neurolens/neurolens/query/answer"
)

// nasty are texts that steer a terminal, turn the text around them, make formulas, elements, links, or mention somebody.
var nasty = []string{
	"\x1b]0;title\a", "\u009b31m", "\x7f", "a\u202eb\u202c", "\u2066x\u2069", "\u061c\u200e\u200f", "one\ntwo\tthree\rfour", `back\slash`,
	"=cmd|' /C calc'!A0", "@SUM(1)", "+1+1", "-2+3", "\t=1", "-1.5e3", "<script>alert(1)</script>", "[a](javascript:1)", "`code`", "@name", "#12",
	"https://example.org", "www.example.org", "**bold**", "![x](y)", "a|b", "&lt;", "~~gone~~", "$x$",
}

func nastyTable() answer.Table {
	t := answer.Table{Columns: []answer.Column{{Name: "a\nb\tc\x1b[1m", Type: answer.TypeText}, {Name: "=1+1", Type: answer.TypeText}}}
	for _, text := range nasty {
		t.Rows = append(t.Rows, []any{text, map[string]any{text: text}})
	}
	return t
}

// TestNothingSteers prints texts that would steer a terminal in every format to one: none does.
func TestNothingSteers(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		var out bytes.Buffer
		a := &app{stdout: &out, terminal: true, width: 80, getenv: func(string) string { return "1" }}
		table := nastyTable()
		if err := a.print(format, table, func() view { return a.tableView(table) }); err != nil {
			t.Fatal(err)
		}
		for _, r := range out.String() {
			if steers(r) && r != '\n' && (r != '\t' || format != formatPlain) {
				t.Errorf("%s: %q is printed as it is", format, r)
				break
			}
		}
		if format == formatPlain && strings.Count(out.String(), "\n") != len(nasty)+1 {
			t.Errorf("plain has other lines than rows:\n%s", out.String())
		}
	}
}

// TestPipesKeep: JSON gives back the very texts, and CSV on a pipe too, but for those that are formulas.
func TestPipesKeep(t *testing.T) {
	t.Parallel()
	for _, raw := range []bool{false, true} {
		var out bytes.Buffer
		a := &app{stdout: &out, csvRaw: raw}
		if err := a.print(formatCSV, nastyTable(), nil); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(records) != len(nasty)+1 {
			t.Fatalf("%d records: %v", len(records), err)
		}
		for i, text := range nasty {
			want := strings.ReplaceAll(text, "\r", "\n") // as encoding/csv reads it
			if strings.Contains(text, "\r") {
				continue
			}
			if formula := i >= 8 && i <= 12 || text == "@name"; formula && !raw {
				want = "'" + text
			}
			if got := records[i+1][0]; got != want {
				t.Errorf("%q became %q, want %q", text, got, want)
			}
		}
	}
	var out bytes.Buffer
	a := &app{stdout: &out}
	if err := a.print(formatJSON, nastyTable(), nil); err != nil {
		t.Fatal(err)
	}
	var objects []map[string]any
	if err := json.Unmarshal(out.Bytes(), &objects); err != nil {
		t.Fatal(err)
	}
	for i, text := range nasty {
		if got := objects[i]["a\nb\tc\x1b[1m"]; got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestMarkdownSaysNothing: what is measured makes no element, link or mention of a comment to a pull request.
func TestMarkdownSaysNothing(t *testing.T) {
	t.Parallel()
	for _, text := range nasty {
		got := markdownText(text)
		for _, forbidden := range []string{"<", "@n", "@S", "://", "www.", "#1"} {
			if strings.Contains(got, forbidden) {
				t.Errorf("%q became %q, which has %q", text, got, forbidden)
			}
		}
		for i, c := range []byte(got) {
			escaped := i > 0 && got[i-1] == '\\'
			if strings.IndexByte("[]`*|~$", c) >= 0 && !escaped {
				t.Errorf("%q became %q, which has a bare %q", text, got, c)
			}
		}
	}
	if got := markdownText("batch_size=1 (p99 +2.5 %)"); got != "batch_size=1 (p99 +2.5 %)" {
		t.Errorf("a plain text became %q", got)
	}
}

// FuzzEscaper writes a text in two parts: it comes out in one piece, and as it was where nothing steers.
func FuzzEscaper(f *testing.F) {
	for i, text := range nasty {
		f.Add(text, i)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		if !utf8.ValidString(text) {
			return
		}
		at = max(0, min(at, len(text)))
		var out bytes.Buffer
		e := &escaper{to: &out}
		for _, part := range []string{text[:at], text[at:]} {
			if n, err := e.Write([]byte(part)); err != nil || n != len(part) {
				t.Fatalf("%d of %d written: %v", n, len(part), err)
			}
		}
		has := func(r rune) bool { return steers(r) && r != '\n' && r != '\t' }
		if strings.IndexFunc(out.String(), has) >= 0 {
			t.Errorf("%q became %q", text, out.String())
		}
		if want := escaped(text, has); out.String() != want {
			t.Errorf("%q became %q, want %q", text, out.String(), want)
		}
	})
}
