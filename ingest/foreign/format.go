package foreign

import (
	"bytes"
	"errors"
	"fmt"
)

// Format is one kind of result file.
type Format struct {
	Name  string // for runs.source and --from: the name of the tool, in lower case
	About string // one line for --list-formats: the tool, and which of its files
	Level string // one line for --list-formats: what a run and a sample are
	// Recognize reports whether a file has this format, by its beginning. At most one format should recognise a file.
	Recognize func(*Head) bool
	// Resembles reports whether a file that no format recognises may have this one. The user is told to try --from.
	Resembles func(*Head) bool
	// Read yields the runs of a file. If it returns an error, the runs before it count. It is nil if the file is only
	// read together with another one; Side explains that.
	Read func(*Input, *Output) error
	Side string // for a file that is only read together with others: what it is
	Log  bool   // a file may have the results of many invocations, on many days; see fileSessions
}

// Recognize gives the formats that recognise a file by its beginning.
func Recognize(formats []Format, head *Head) []*Format {
	var found []*Format
	for i := range formats {
		if formats[i].Recognize != nil && formats[i].Recognize(head) {
			found = append(found, &formats[i])
		}
	}
	return found
}

// FormatOf is the format of a file. The error says that no format recognises it, or several do.
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

// archives are the first bytes of archives and of compressed files.
var archives = []struct{ begins, name string }{
	{"PK\x03\x04", "a zip archive"},
	{"BZh", "compressed with bzip2"},
	{"\xfd7zXZ\x00", "compressed with xz"},
	{"\x28\xb5\x2f\xfd", "compressed with zstd"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive"},
}

// unknownWhy says what is wrong with a file of an unknown format.
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
