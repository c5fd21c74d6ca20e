package foreign

import (
	"bytes"
	"strings"

	regexp "github.com/neurolens/neurolens/ingest/foreign/lazyregexp"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// Head is the beginning of a file, up to 256 KiB without gzip, byte order mark and UTF-16: what its format is recognised by.
type Head struct {
	Name  string // the file's own name, without its folder
	Bytes []byte
	Whole bool // that is all of the file
	// JSONAt is where JSON begins, after text that some tools print before; -1 where there is none.
	JSONAt  int
	Values  int             // JSON values at the top that begin here: more than one in JSON lines
	paths   map[string]bool // of members: "benchmarks[].stats.min"
	tooDeep bool            // JSON has more in one another than is read
}

// Bounds of what is looked for in JSON.
const (
	maxPaths     = 10_000
	maxDepth     = 8
	maxLeads     = 50    // lines at which JSON may begin
	maxJSONDepth = 9_999 // what package jsontext reads in one another
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

// jsonOpening is how a line begins that JSON begins with; not one as "[INFO] text" or "[2026-01-31] text".
var jsonOpening = regexp.MustCompile(`(?m)^[ \t\r]*(?:(\{)[ \t\r]*(?:["}]|$)|(\[)[ \t\r]*(?:[\[{"\]]|$|(?:-?[0-9][-+.0-9eE]*|NaN|-?Infinity|true|false|null)[ \t\r]*(?:[,\]]|$)))`)

// jsonStart is where the first line begins that looks like JSON; -1 for none.
func jsonStart(text []byte) int {
	at := jsonOpening.FindSubmatchIndex(text)
	if at == nil {
		return -1
	}
	return max(at[2], at[4]) // of an object or of an array: the other is -1
}

// readJSON collects the paths of the members of JSON values until something is no JSON, or the text ends.
func (h *Head) readJSON(text []byte) {
	d := newJSON(bytes.NewReader(text)).decoder
	var path []string // of the containers that are open: "[]" of an array, of an object the member that is read
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

// Has tells whether JSON has members at all of the paths: "context.num_cpus", "benchmarks[].real_time", "[].command".
func (h *Head) Has(paths ...string) bool {
	for _, p := range paths {
		if !h.paths[p] {
			return false
		}
	}
	return len(h.paths) > 0
}

// HasAny tells whether JSON has a member at one of the paths.
func (h *Head) HasAny(paths ...string) bool {
	for _, p := range paths {
		if h.paths[p] {
			return true
		}
	}
	return false
}

// Matches tells whether the text matches an expression. ^ and $ are line ends where it begins with (?m).
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
