package foreign

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf16"

	"github.com/neurolens/neurolens/schema"
)

// opened returns a text as an input.
func opened(t *testing.T, text string) *Input {
	t.Helper()
	in, err := FromReader(strings.NewReader(text), "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func wide(text string, little bool) []byte {
	var b []byte
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
		if little {
			b = append(b, byte(u), byte(u>>8))
		} else {
			b = append(b, byte(u>>8), byte(u))
		}
	}
	return b
}

// TestWrapped: gzip, byte order marks and UTF-16 hide nothing.
func TestWrapped(t *testing.T) {
	const text = "{\"name\": \"µ\", \"n\": [1]}\nsecond"
	for name, content := range map[string][]byte{
		"plain": []byte(text), "gzip": zipped(t, []byte(text)), "bom": []byte("\ufeff" + text), "utf-16le": wide(text, true),
		"utf-16be": wide(text, false), "gzip of utf-16": zipped(t, wide(text, true)),
	} {
		in, err := FromReader(bytes.NewReader(content), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !in.Head.Has("name", "n") || !in.Head.Whole {
			t.Errorf("%s: the head does not show it: %q", name, in.Head.Bytes)
		}
		var lines []string
		for _, line := range in.Lines() {
			lines = append(lines, line.Text)
		}
		if got := strings.Join(lines, "\n"); got != text {
			t.Errorf("%s: got %q", name, got)
		}
		if in.Consumed() != int64(len(content)) {
			t.Errorf("%s: consumed %d of %d", name, in.Consumed(), len(content))
		}
	}
}

// zeros is as many zeros as are asked for.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), z.left))
	clear(p[:n])
	z.left -= int64(n)
	return n, nil
}

// TestEndless: reading a record without an end stops at the limit.
func TestEndless(t *testing.T) {
	const tenGB = 10 << 30
	for name, read := range map[string]func(*Input) error{
		"lines": func(in *Input) error {
			for _, line := range in.Lines() {
				if line.Err != nil {
					return line.Err
				}
			}
			return nil
		},
		"ahead": func(in *Input) error { _, err := in.Ahead(); return err },
		"csv": func(in *Input) error {
			for _, err := range in.CSV().Records() {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"json": func(in *Input) error {
			j := in.JSON()
			_, err := j.Value()
			return err
		},
	} {
		source := &zeros{tenGB}
		in, err := FromReader(source, "zeros", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := read(in); err == nil {
			t.Errorf("%s: no error", name)
		}
		if used := tenGB - source.left; used > 2*maxRecord {
			t.Errorf("%s: %d MiB were read", name, used>>20)
		}
	}
}

// ones is an endless list of numbers.
type ones struct {
	separator byte
	read      int64
}

func (o *ones) Read(p []byte) (int, error) {
	for i := range p {
		if p[i] = '1'; (o.read+int64(i))%2 == 1 {
			p[i] = o.separator
		}
	}
	o.read += int64(len(p))
	return len(p), nil
}

// TestManyValues: a record, a line or a side file of very many values is refused before it is read to its end.
func TestManyValues(t *testing.T) {
	csv := func(separator rune) func(in *Input) error {
		return func(in *Input) error {
			records := in.CSV()
			records.Separator(separator)
			_, err := records.Record()
			return err
		}
	}
	for name, c := range map[string]struct {
		begin     string
		separator byte
		read      func(in *Input) error
	}{
		"json": {`{"a": [`, ',', func(in *Input) error {
			j := in.JSON()
			return j.Members(func(string) error {
				var numbers []Number
				return j.Decode(&numbers)
			})
		}},
		"line": {"", ' ', func(in *Input) error {
			for _, line := range in.Lines() {
				return line.Err
			}
			return nil
		}},
		"csv":        {"", ',', csv(',')},
		"semicolons": {"", ';', csv(';')},
	} {
		source := &ones{separator: c.separator}
		in, err := FromReader(io.MultiReader(strings.NewReader(c.begin), source), "many", nil)
		if err != nil {
			t.Fatal(err)
		}
		most := int64(3 * maxValues)
		if name == "line" { // counted at its end
			most = maxRecord + 1<<20
		}
		err = c.read(in)
		if err == nil || !strings.Contains(err.Error(), "a record of more than 8388608 values") && name != "line" || source.read > most {
			t.Errorf("%s: %d bytes are read, %v", name, source.read, err)
		}
	}
	line := strings.Repeat("1 ", maxValues+1)
	in := opened(t, line+"\n")
	for _, line := range in.Lines() {
		if line.Err == nil || !strings.Contains(line.Err.Error(), "line 1: a record of more than 8388608 values") {
			t.Errorf("%d bytes, %v", len(line.Text), line.Err)
		}
	}
	folder := fstest.MapFS{"f.json": {Data: []byte("{}")}, "side.json": {Data: zipped(t, []byte("["+strings.Repeat("1,", maxValues+1)+"1]"))}}
	beside, err := Open(t.Context(), folder, "f.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	if content, err := beside.Side("side.json"); err == nil || !strings.Contains(err.Error(), "side.json: a record of more than 8388608 values") {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

// TestLongString: a JSON string without end is not held whole either.
func TestLongString(t *testing.T) {
	source := &zeros{10 << 30}
	in, err := FromReader(io.MultiReader(strings.NewReader(`{"a": "`), letters{source}), "long", nil)
	if err != nil {
		t.Fatal(err)
	}
	j := in.JSON()
	err = j.Members(func(string) error { return j.Skip() })
	if err == nil || !strings.Contains(err.Error(), "a record of more than") {
		t.Errorf("got %v", err)
	}
}

type letters struct{ r io.Reader }

func (l letters) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i := range p[:n] {
		p[i] = 'a'
	}
	return n, err
}

func TestJSON(t *testing.T) {
	in := opened(t, "fio: terminating on signal 2\n[x\n{\"a\": [1, {\"b\": NaN}, \"c\"], \"a\": 7}{\"d\": null}")
	j := in.JSON()
	var seen []string
	err := j.Members(func(name string) error {
		err := j.Elements(func(i int) error {
			var n int
			err := j.Decode(&n)
			var m *Mismatch
			if errors.As(err, &m) {
				seen = append(seen, m.Where)
				return nil
			}
			seen = append(seen, j.Where())
			return err
		})
		var m *Mismatch
		if errors.As(err, &m) {
			seen = append(seen, name+" "+m.Error())
			return nil
		}
		return err
	})
	if want := []string{"/a/0", "/a/1", "/a/2", "a a number, want an array"}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("got %q, %v, want %q", seen, err, want)
	}
	if !j.More() {
		t.Error("a second value follows")
	}
	if err := j.Skip(); err != nil || j.More() {
		t.Errorf("nothing follows that: %v", err)
	}
}

// TestTruncated: the lines before the end of a truncated file are read.
func TestTruncated(t *testing.T) {
	in := opened(t, `[{"a": 1}, {"a": 2}, {"a": `)
	j := in.JSON()
	n := 0
	err := j.Elements(func(int) error {
		var v struct{ A int }
		if err := j.Decode(&v); err != nil {
			return err
		}
		n++
		return nil
	})
	var m *Mismatch
	if n != 2 || err == nil || errors.As(err, &m) {
		t.Errorf("read %d, %v", n, err)
	}
}

// TestBreaksOffInLongValue: where a file breaks off is said as far as it is known, and not with names that are empty.
func TestBreaksOffInLongValue(t *testing.T) {
	text := `{"a": [{"b": {` + strings.Repeat(" ", 40) + `"c": [` + strings.Repeat("1.5,\n            ", 1<<15)
	in := opened(t, text)
	j := in.JSON()
	err := inWords(j.Members(func(string) error { return j.Elements(func(int) error { _, err := j.Value(); return err }) }))
	if want := "it is cut off in /a/0"; err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "//") {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestDeep(t *testing.T) {
	for _, text := range []string{strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 1<<20)} {
		in := opened(t, text)
		j := in.JSON()
		if _, err := j.Value(); err == nil {
			t.Error("no error")
		}
	}
}

// TestSide: side files are beside a file or above it, never outside of the folder.
func TestSide(t *testing.T) {
	folder := fstest.MapFS{
		"results/lab3/run.json":   {Data: []byte("{}")},
		"results/benchmarks.json": {Data: zipped(t, []byte("found"))},
	}
	in, err := Open(context.Background(), folder, "results/lab3/run.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := in.Side("../benchmarks.json"); err != nil || string(got) != "found" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, name := range []string{"../../../etc/passwd", "/etc/passwd", "none"} {
		if _, err := in.Side(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]bool{
		"run.json": true, "../benchmarks.json": true, "../lab3": false, "none": false, "": false, ".": false, "/etc/passwd": false, "../../../etc/passwd": false,
	} {
		if in.Beside(name) != want {
			t.Errorf("%q beside: got %t", name, !want)
		}
	}
	for _, name := range []string{"../x", "/x", `..\x`, "a/../../x", ""} {
		if got, err := Below(name); err == nil && got != "." {
			t.Errorf("%s: got %s", name, got)
		}
	}
	if got, err := Below("a/./b.bin"); err != nil || got != "a/b.bin" {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestAheadBreaksOff: the part of a stream before an error is read twice, and so is the error.
func TestAheadBreaksOff(t *testing.T) {
	whole := zipped(t, []byte(strings.Repeat("some text, and more of it\n", 1<<15)))
	in, err := FromReader(bytes.NewReader(whole[:len(whole)*3/4]), stdinName, nil)
	if err != nil {
		t.Fatal(err)
	}
	ahead, err := in.Ahead()
	if err != nil {
		t.Fatal(err)
	}
	first, errFirst := io.ReadAll(ahead.Text())
	second, errSecond := io.ReadAll(in.Text())
	if len(first) == 0 || !bytes.Equal(first, second) || !errors.Is(errFirst, io.ErrUnexpectedEOF) || !errors.Is(errSecond, io.ErrUnexpectedEOF) {
		t.Errorf("%d and %d bytes, %v, %v", len(first), len(second), errFirst, errSecond)
	}
}

// TestAhead: reading ahead gives the same content, from a file and from a stream, shorter and longer than a head.
func TestAhead(t *testing.T) {
	for _, content := range []string{`{"a": 1}`, `{"a": "` + strings.Repeat("x", 2*headBytes) + `"}`} {
		file, err := Open(context.Background(), fstest.MapFS{"f.json": {Data: zipped(t, []byte(content))}}, "f.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := FromReader(strings.NewReader(content), stdinName, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []*Input{file, stream} {
			ahead, err := in.Ahead()
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range []*Input{ahead, in} {
				if got, err := io.ReadAll(in.Text()); string(got) != content || err != nil {
					t.Errorf("%s: got %d of %d bytes, %v", in.Name, len(got), len(content), err)
				}
			}
		}
	}
}

func TestTime(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	for _, c := range []struct {
		text     string
		location *time.Location
		want     string
		source   schema.TimeSource
	}{
		{"2026-01-31T10:00:00Z", berlin, "2026-01-31T10:00:00Z", schema.TimeFile},
		{"2026-01-31T10:00:00.25+02:00", nil, "2026-01-31T08:00:00.25Z", schema.TimeFile},
		{"2026-01-31T10:00:00", nil, "2026-01-31T10:00:00Z", schema.TimeNaive},
		{"2026-01-31 10:00:00", berlin, "2026-01-31T09:00:00Z", schema.TimeFile},
	} {
		at, source, err := (&Input{Location: c.location}).Time(c.text, ISO...)
		if got := at.UTC().Format(time.RFC3339Nano); err != nil || got != c.want || source != c.source {
			t.Errorf("%s: got %s, %s, %v", c.text, got, source, err)
		}
	}
	if _, _, err := (&Input{}).Time("yesterday", ISO...); err == nil {
		t.Error("want an error")
	}
}
