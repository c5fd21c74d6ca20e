package foreign

import (
	"bytes"
	"strings"

	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

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

// jsonStart is the offset of the first line that looks like the beginning of JSON; -1 if there is none.
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

// FirstLine is the first line that is not empty, without its end.
func (h *Head) FirstLine() string {
	for line := range bytes.Lines(h.Bytes) {
		if text := strings.TrimSpace(string(line)); text != "" {
			return text
		}
	}
	return ""
}
