package formats

import (
	"bufio"
	"bytes"
	"io"

	"github.com/neurolens/neurolens/ingest/foreign"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var fioOpening = regexp.MustCompile(`(?m)^\{\s*$`)

// fioJSON reads the JSON of a file. fio writes each report from a line that is { to a line that is }. Text before,
// between and after the reports is skipped.
func fioJSON(in *foreign.Input) (*foreign.JSON, error) {
	if !in.Head.Matches(fioOpening) {
		return in.JSON()
	}
	reports, err := foreign.FromReader(&fioReports{lines: bufio.NewReaderSize(in.Text(), 64<<10), begins: true}, in.Name, in.Location)
	if err != nil {
		return nil, err
	}
	return reports.JSON()
}

// fioReports passes on the lines from { to }.
type fioReports struct {
	lines  *bufio.Reader
	begins bool // what is read next begins a line
	inside bool
	ready  []byte
}

func (f *fioReports) Read(p []byte) (int, error) {
	for len(f.ready) == 0 {
		line, err := f.lines.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			return 0, err
		}
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			return 0, err
		}
		f.pass(line)
	}
	n := copy(p, f.ready)
	f.ready = f.ready[n:]
	return n, nil
}

// pass processes a line, or a piece of a long one.
func (f *fioReports) pass(line []byte) {
	text := bytes.TrimRight(line, " \r\n")
	if f.begins && string(text) == "{" {
		f.inside = true
	}
	if f.inside {
		f.ready = line
	}
	if f.begins && string(text) == "}" {
		f.inside = false
	}
	f.begins = bytes.HasSuffix(line, []byte("\n"))
}
