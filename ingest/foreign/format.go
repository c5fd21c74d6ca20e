package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Format is one kind of result file.
type Format struct {
	Name  string // for runs.source and --from: the name of the tool, in lower case
	About string // one line for --list-formats: the tool, and the kind of its files
	Level string // one line for --list-formats: the meaning of a run and a sample
	// Recognize reports whether a file has this format, by its beginning. At most one format should recognise a file.
	Recognize func(*Head) bool
	// Resembles reports whether a file that no format recognises may have this one. The user is told to try --from.
	Resembles func(*Head) bool
	// Read yields the runs of a file. If it returns an error, the runs before it count. It is nil if the file is only
	// read together with another one; Side explains that.
	Read func(*Input, *Output) error
	Side string // for a file that is only read together with others: its description
	// OwnHeadings matches the lines of the tool that look like headings, in a text whose results may be under headings of people. It is
	// nil for other formats. See headings.
	OwnHeadings *regexp.Regexp
	// Beside returns the names of the files next to one of this name that are read with it, if they exist; nil: none is.
	Beside func(name string) []string
	Keyed  bool // each record has an id that the tool gave it: a run is known wherever it is in the file, and without those before it
	Log    bool // a file may have the results of many invocations, on many days; see fileSessions
}

// Recognize returns the formats that recognise a file by its beginning.
func Recognize(formats []Format, head *Head) []*Format {
	var found []*Format
	for i := range formats {
		if formats[i].Recognize != nil && formats[i].Recognize(head) {
			found = append(found, &formats[i])
		}
	}
	return found
}

// oneOf returns the only format that recognises a file. It is an error if there is none, or more than one.
func oneOf(found []*Format, formats []Format, head *Head) (*Format, error) {
	switch len(found) {
	case 0:
		if like := looksLike(formats, head); like != "" {
			return nil, errors.New(like)
		}
		return nil, errors.New(unknownWhy(head))
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("it matches the formats %s and %s: choose one with --from", found[0].Name, found[1].Name)
}

// lookedAt is the number of bytes of a text in which Format looks for a format. Logs begin with the output of other programs.
const lookedAt = 4 << 20

// Format finds the format of the file by its beginning, or else by the text after it. It is an error if no format recognises it, or
// several do.
func (in *Input) Format(formats []Format) (*Format, error) {
	found := Recognize(formats, in.Head)
	format, err := oneOf(found, formats, in.Head)
	if len(found) > 0 || in.Head.Whole || in.Head.JSONAt == 0 || bytes.IndexByte(in.Head.Bytes, 0) >= 0 {
		return format, err
	}
	again, openErr := in.Ahead()
	if openErr != nil {
		return nil, err
	}
	defer again.Close()
	var logs []Format
	for _, f := range formats {
		if f.OwnHeadings != nil {
			logs = append(logs, f)
		}
	}
	part := make([]byte, 0, headBytes)
	const overlap = 8 << 10 // so that no line is cut in all parts
	for read := 0; read < lookedAt; read += headBytes - overlap {
		kept := part[max(0, len(part)-overlap):]
		part = append(part[:0], kept...)
		n, readErr := io.ReadFull(again.text, part[len(part):cap(part)])
		part = part[:len(part)+n]
		if found := Recognize(logs, newHead(in.Head.Name, part, false)); len(found) == 1 {
			return found[0], nil
		}
		if readErr != nil {
			break
		}
	}
	return nil, err
}

// archives are the first bytes of archives and of compressed files.
var archives = []struct{ begins, name string }{
	{"PK\x03\x04", "a zip archive"},
	{"BZh", "compressed with bzip2"},
	{"\xfd7zXZ\x00", "compressed with xz"},
	{"\x28\xb5\x2f\xfd", "compressed with zstd"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive"},
}

// unknownWhy describes a file that no format recognises.
func unknownWhy(head *Head) string {
	switch {
	case len(head.Bytes) == 0:
		return "it is empty"
	case head.tooDeep:
		return fmt.Sprintf("its JSON is nested more than %d levels deep", maxJSONDepth)
	case head.JSONAt >= 0 && head.isLines():
		return "its JSON lines match no known format; ingest --guess FILE drafts a mapping for them, and --json-schema describes lines that need none"
	case head.JSONAt >= 0:
		return "its JSON keys match no known format; see ingest --list-formats"
	}
	for _, a := range archives {
		if bytes.HasPrefix(head.Bytes, []byte(a.begins)) {
			return "it is " + a.name + ": unpack it first"
		}
	}
	return "its text matches no known format; see ingest --list-formats"
}

// Head is the beginning of a file, up to 256 KiB, decoded from gzip and UTF-16 and without byte order mark. Formats
// recognise a file by it.
type Head struct {
	Name  string // the file's own name, without its folder
	Bytes []byte
	Whole bool // it is the complete file
	// JSONAt is the offset at which JSON begins, after text that some tools print before; -1 if there is none.
	JSONAt  int
	Values  int             // number of top-level JSON values that begin here: more than one in JSON lines
	paths   map[string]bool // paths of members, such as "benchmarks[].stats.min"
	tooDeep bool            // the JSON is nested too deeply
}

// Limits of the search in JSON.
const (
	maxPaths     = 10_000
	maxDepth     = 8
	maxLeads     = 50    // number of lines at which JSON may begin
	maxJSONDepth = 9_999 // nesting that package jsontext reads
)

// newHead looks at the beginning of a file.
func newHead(name string, start []byte, whole bool) *Head {
	h := &Head{Name: name, Bytes: start, Whole: whole, JSONAt: -1}
	for n, at := 0, 0; n < maxLeads && at < len(start); n++ {
		next := jsonStart(start[at:])
		if next < 0 {
			break
		}
		at += next
		h.paths, h.Values = map[string]bool{}, 0
		h.readJSON(start[at:])
		if len(h.paths) > 0 || h.tooDeep {
			h.JSONAt = at
			return h
		}
		line := bytes.IndexByte(start[at:], '\n')
		if line < 0 {
			break
		}
		at += line + 1
	}
	h.paths, h.Values = nil, 0
	return h
}

// jsonOpening matches the beginning of a line with which JSON begins, but not one as "[INFO] text" or "[2026-01-31]
// text".
var jsonOpening = regexp.MustCompile(`(?m)^[ \t\r]*(?:(\{)[ \t\r]*(?:["}]|$)|(\[)[ \t\r]*(?:[\[{"\]]|$|(?:-?[0-9][-+.0-9eE]*|NaN|-?Infinity|true|false|null)[ \t\r]*(?:[,\]]|$)))`)

// jsonStart returns the offset of the first line that looks like the beginning of JSON; -1 if there is none.
func jsonStart(text []byte) int {
	at := jsonOpening.FindSubmatchIndex(text)
	if at == nil {
		return -1
	}
	return max(at[2], at[4]) // of an object or of an array: the other is -1
}

// readJSON collects the paths of the members of JSON values, until the text is not JSON or ends.
func (h *Head) readJSON(text []byte) {
	d := newJSON(bytes.NewReader(text)).decoder
	var path []string // of the open containers: "[]" for an array, and the current member for an object
	for len(h.paths) < maxPaths {
		token, err := d.ReadToken()
		if err != nil {
			h.tooDeep = d.StackDepth() >= maxJSONDepth
			return
		}
		switch token.Kind() {
		case jsontext.KindBeginObject, jsontext.KindBeginArray:
			if d.StackDepth() == 1 {
				h.Values++
			}
			path = append(path, "")
			if token.Kind() == jsontext.KindBeginArray {
				path[len(path)-1] = "[]"
			}
		case jsontext.KindEndObject, jsontext.KindEndArray:
			path = path[:len(path)-1]
		case jsontext.KindString:
			kind, n := d.StackIndex(d.StackDepth())
			if kind == jsontext.KindBeginObject && n%2 == 1 && len(path) <= maxDepth {
				path[len(path)-1] = "." + token.String()
				h.paths[strings.TrimPrefix(strings.Join(path, ""), ".")] = true
			}
		}
	}
}

// Has reports whether the JSON has members at all of the paths: "context.num_cpus", "benchmarks[].real_time",
// "[].command".
func (h *Head) Has(paths ...string) bool {
	for _, p := range paths {
		if !h.paths[p] {
			return false
		}
	}
	return len(h.paths) > 0
}

// HasAny reports whether the JSON has a member at one of the paths.
func (h *Head) HasAny(paths ...string) bool {
	for _, p := range paths {
		if h.paths[p] {
			return true
		}
	}
	return false
}

// isLines reports whether the JSON is one value a line.
func (h *Head) isLines() bool {
	first, rest, _ := bytes.Cut(bytes.TrimSpace(h.Bytes[h.JSONAt:]), []byte("\n"))
	whole := bytes.HasSuffix(bytes.TrimSpace(first), []byte("}"))
	return whole && (h.Values > 1 || len(rest) == 0 && strings.HasSuffix(h.Name, "jsonl"))
}

// Matches reports whether the text matches a regular expression. ^ and $ match at line ends if it begins with (?m).
func (h *Head) Matches(expression *regexp.Regexp) bool { return expression.Match(h.Bytes) }

// FirstLine returns the first line that is not empty, without its end.
func (h *Head) FirstLine() string {
	for line := range bytes.Lines(h.Bytes) {
		if text := strings.TrimSpace(string(line)); text != "" {
			return text
		}
	}
	return ""
}
