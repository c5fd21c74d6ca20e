package foreign

import (
	"bytes"
	"errors"
	"fmt"
)

// Format is one kind of result file.
type Format struct {
	Name  string // in runs.source and for --from: lower case, the name of the tool
	About string // one line for people: the tool and which of its files
	Level string // one line for people: what is a run and what a sample
	// Recognize tells whether a file is of this format by its beginning. Of all formats exactly one should say so.
	Recognize func(*Head) bool
	// Resembles tells whether a file may be of this format, of which nobody says so: people are told that --from reads it.
	Resembles func(*Head) bool
	// Read yields the runs of a file. Its error ends the file: what came before it counts. Nil where the file is read
	// together with another one, which is Side's.
	Read func(*Input, *Output) error
	Side string // of a file that only goes with others: what it is
	Log  bool   // a file may be of many invocations, on many days: see fileSessions
}

// Recognize finds the formats of a file by its beginning.
func Recognize(formats []Format, head *Head) []*Format {
	var found []*Format
	for i := range formats {
		if formats[i].Recognize != nil && formats[i].Recognize(head) {
			found = append(found, &formats[i])
		}
	}
	return found
}

// FormatOf is the one format of a file. An error says that nobody recognises it, or that several do.
func FormatOf(formats []Format, head *Head) (*Format, error) {
	found := Recognize(formats, head)
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

// archives are what files begin with that hold others, or a whole file compressed.
var archives = []struct{ begins, name string }{
	{"PK\x03\x04", "a zip archive"},
	{"BZh", "compressed with bzip2"},
	{"\xfd7zXZ\x00", "compressed with xz"},
	{"\x28\xb5\x2f\xfd", "compressed with zstd"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive"},
}

// unknownWhy says what a file is that is of no format.
func unknownWhy(head *Head) string {
	switch {
	case len(head.Bytes) == 0:
		return "it is empty"
	case head.tooDeep:
		return fmt.Sprintf("its JSON is nested more than %d levels deep", maxJSONDepth)
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
