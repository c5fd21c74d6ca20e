package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/neurolens/neurolens/ingest/foreign"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

func goBench() foreign.Format {
	return foreign.Format{
		Name:        "go-bench",
		About:       "Go benchmarks: text of go test -bench, as benchstat reads it, and the events of go test -json",
		Level:       "a run is a benchmark of a test process, a sample is a result line (-count): the mean of b.N iterations",
		OwnHeadings: regexp.MustCompile(`^#[ \t]|^[a-z]\S*:|^=== (?:RUN|PAUSE|CONT|NAME)\b|^--- (?:BENCH|FAIL|PASS|SKIP)\b|^\*\*\*`),
		Recognize: func(h *foreign.Head) bool {
			return isGoEvents(h) || !h.Matches(goSource) && (h.JSONAt < 0 && h.Matches(goText) || h.JSONAt > 0 && h.Matches(goResult))
		},
		Read: readGoBench,
	}
}

var (
	goResult = regexp.MustCompile(`(?m)^Benchmark(?:[^a-z\s]\S*)?[ \t]+[0-9]+[ \t]+[-+0-9.eEINnaf]+[ \t]+\S+`)
	goText   = regexp.MustCompile(goResult.String() + `|^Benchmark[^a-z\s]\S*[ \t]+(?:--- FAIL: |panic: )|^--- (?:FAIL|SKIP): Benchmark[^a-z]|^(?:PASS\r?\nok|exit status \d+\r?\nFAIL) *\t`)
	goSource = regexp.MustCompile(`(?m)^package [a-z_][A-Za-z0-9_]*\r?$`) // results in it are texts of tests and comments
	goEvent  = regexp.MustCompile(`"Action":"(?:start|run|output|pass|fail|skip|bench|build-output|build-fail)"`)
)

// isGoEvents reports whether a file has the events of go test -json.
func isGoEvents(h *foreign.Head) bool {
	return h.Has("Action") && h.HasAny("Package", "ImportPath", "Output") && h.Matches(goEvent)
}

func readGoBench(in *foreign.Input, out *foreign.Output) error {
	lines := &goLines{r: bufio.NewReaderSize(in.Text(), maxGoLine)}
	if isGoEvents(in.Head) {
		return readGoEvents(in, lines, out)
	}
	p := &goParser{in: in, out: out, procs: goProcsOf(goNames(in.Head.Bytes))}
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return p.end()
		}
		if errors.Is(err, errLongGoLine) {
			out.Refuse(lines.where(), err)
			continue
		}
		if err != nil {
			return err
		}
		p.open = lines.open
		if err := p.line(lines.n, line); err != nil {
			return err
		}
	}
}

// maxGoLine bounds a line of text, or an event.
const maxGoLine = 256 << 10

var errLongGoLine = fmt.Errorf("a line of more than %d bytes", maxGoLine)

// goLines reads lines without a copy of each.
type goLines struct {
	r    *bufio.Reader
	n    int  // of the line that was read last, from 1
	open bool // it has no end: the text may break off in it
}

func (l *goLines) where() string { return fmt.Sprintf("line %d", l.n) }

// next is the next line, valid until the one after it; io.EOF at the end. One that is too long is errLongGoLine.
func (l *goLines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	l.n++
	if errors.Is(err, bufio.ErrBufferFull) {
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = l.r.ReadSlice('\n')
		}
		if err == nil || errors.Is(err, io.EOF) {
			err = errLongGoLine
		}
		return nil, err
	}
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	line, ended := bytes.CutSuffix(line, []byte("\n"))
	l.open = !ended
	return bytes.TrimSuffix(line, []byte("\r")), nil
}
