package foreign

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// headBytes is the size of the part of a file that formats can use to recognise it.
const headBytes = 256 << 10

// maxRecord limits the part of a file that is in memory at once, in bytes: a line, or a JSON value that a reader requests. maxValues limits
// its values, of which each takes up to about 100 bytes until it is stored, and with that the time for which reading does not look at its
// context.
const (
	maxRecord = 128 << 20
	maxValues = 8 << 20
)

// recordError means that a record is larger than one may be.
type recordError string

func (e recordError) Error() string { return "a record of more than " + string(e) }

// errBytes and errValues mean that a record has more than maxRecord or maxValues.
var (
	errBytes  = recordError(fmt.Sprintf("%d MiB", maxRecord>>20))
	errValues = recordError(fmt.Sprintf("%d values", maxValues))
)

var (
	gzipMagic = []byte{0x1f, 0x8b, 0x08} // deflate, the only method
	utf8BOM   = []byte{0xef, 0xbb, 0xbf}
	utf16LE   = []byte{0xff, 0xfe}
	utf16BE   = []byte{0xfe, 0xff}
)

// plain returns the content of a file, decoded from gzip, UTF-16 and CI logs, without byte order mark.
func plain(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, headBytes)
	start, _ := b.Peek(len(utf8BOM)) // fewer bytes in a short file, which is none of these
	if bytes.HasPrefix(start, gzipMagic) {
		unzipped, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("reading gzip: %w", err)
		}
		b = bufio.NewReaderSize(unzipped, headBytes)
		start, _ = b.Peek(len(utf8BOM))
	}
	switch {
	case bytes.HasPrefix(start, utf8BOM):
		if _, err := b.Discard(len(utf8BOM)); err != nil {
			return nil, err
		}
	case bytes.HasPrefix(start, utf16LE), bytes.HasPrefix(start, utf16BE):
		decoder := unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder()
		b = bufio.NewReaderSize(decoder.Reader(b), headBytes)
	}
	return withoutCI(b), nil
}

// bounded reads at most maxRecord bytes and maxValues separators between two records, so that a file cannot use more memory than that.
type bounded struct {
	r         io.Reader
	separator []byte // of values
	left      int    // bytes
	values    int    // that are left
}

func newBounded(r io.Reader) *bounded {
	b := &bounded{r: r, separator: []byte(",")}
	b.renew()
	return b
}

// renew marks the end of a record.
func (b *bounded) renew() { b.left, b.values = maxRecord, maxValues }

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errBytes
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	if b.values -= bytes.Count(p[:n], b.separator); b.values < 0 {
		return 0, errValues
	}
	return n, err
}

// ciPrefix matches the prefix that CI systems write before each line of a log. GitHub Actions writes a time, and gh run view the job and
// the step before it; GitLab a time and the stream; Jenkins a time in brackets.
var ciPrefix = regexp.MustCompile(`^(?:(?:[^\t\n]*\t[^\t\n]*\t)?(?:\x{feff})?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z(?: |\r?$)` +
	`|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d\d[OE][ +]?` +
	`|\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:?\d\d)\](?: |\r?$))`)

// terminal matches control sequences of terminals, and GitLab's marks of sections, which end with a carriage return.
var terminal = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|section_(?:start|end):\d+:[^\r\n]*\r`)

const escape = 0x1b

// withoutCI removes from a text the prefixes of a CI system and the control sequences of terminals. The number of lines
// stays the same. A text without them is returned unchanged.
func withoutCI(b *bufio.Reader) *bufio.Reader {
	start, _ := b.Peek(headBytes)
	f := lineFilter{r: b, prefixed: hasCIPrefix(start), drawn: bytes.IndexByte(start, escape) >= 0}
	if !f.prefixed && !f.drawn || bytes.IndexByte(start, 0) >= 0 { // a file with a NUL is not text
		return b
	}
	return bufio.NewReaderSize(&f, headBytes)
}

// hasCIPrefix reports whether maxLines lines at the beginning have a prefix.
func hasCIPrefix(start []byte) bool {
	const maxLines = 40
	if part := start[:min(len(start), 4<<10)]; !bytes.Contains(part, []byte("Z")) && !bytes.Contains(part, []byte("] ")) {
		return false
	}
	lines, prefixed := 0, 0
	for line := range bytes.Lines(start) {
		if line = bytes.TrimSuffix(line, []byte("\n")); len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		lines++
		if ciPrefix.Match(drawnAway(line)) {
			prefixed++
		}
		if lines == maxLines {
			break
		}
	}
	return prefixed > 0 && 2*prefixed >= lines
}

// drawnAway returns a line without control sequences of terminals.
func drawnAway(line []byte) []byte {
	if bytes.IndexByte(line, escape) < 0 && !bytes.Contains(line, []byte("section_")) {
		return line
	}
	return terminal.ReplaceAll(line, nil)
}

// lineFilter reads lines without their prefixes.
type lineFilter struct {
	r               *bufio.Reader
	prefixed, drawn bool
	inLine          bool // the next bytes continue a long line
	line            []byte
	err             error
}

func (f *lineFilter) Read(p []byte) (int, error) {
	for len(f.line) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		var line []byte
		line, f.err = f.r.ReadSlice('\n')
		long := errors.Is(f.err, bufio.ErrBufferFull)
		if long {
			f.err = nil
		}
		f.line = f.without(line)
		f.inLine = long
	}
	n := copy(p, f.line)
	f.line = f.line[n:]
	return n, nil
}

// without returns a line without its prefix and without control sequences.
func (f *lineFilter) without(line []byte) []byte {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	before := len(text)
	if f.drawn {
		text = drawnAway(text)
	}
	if f.prefixed && !f.inLine {
		text = text[len(ciPrefix.Find(text)):]
		if f.drawn {
			text = drawnAway(text)
		}
	}
	if len(text) == before {
		return line
	}
	if ended {
		return append(bytes.Clone(text), '\n')
	}
	return text
}

// LauncherTag is the pattern of the tags that launchers and logs put before the lines of a program: mpirun --tag-output, srun --label,
// pdsh and docker compose, the name of a node in brackets, syslog, a time.
const LauncherTag = `(?:\[\d+,\d+\]<std(?:out|err)>: ?| *\d{1,6}: |\[[\w.-]+\] |[\w.-]+ +\| |\d{4}-\d\d-\d\d[T ]\d\d:\d\d:?\S* ` +
	`|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./-]+(?:\[\d+\])?: )`

var (
	launcherTags = regexp.MustCompile(`^` + LauncherTag + `{1,3}`)
	// mpirun also writes its tag inside a line, wherever a write of the program begins.
	launcherTagInside = regexp.MustCompile(`\[\d+,\d+\]<std(?:out|err)>:`)
)

// Unlaunched returns a line without the tags of the program that launched the one which printed it.
func Unlaunched(line string) string {
	line = launcherTags.ReplaceAllString(line, "")
	if strings.Contains(line, "]<std") {
		line = launcherTagInside.ReplaceAllString(line, " ")
	}
	return line
}

// nulRemoved is the note and the warning about a run whose names had NUL characters, which come from fixed-size buffers
// of C. They are removed, because no command line, and so no filter, can contain them. Other control characters stay: a
// shell can type them.
const nulRemoved = "NUL characters were removed from its names"

// removeNUL removes the NUL characters from the names by which people find a run, and reports whether there were any.
func removeNUL(r *schema.Run) bool {
	found := false
	clean := func(text string) string {
		if strings.IndexByte(text, 0) < 0 {
			return text
		}
		found = true
		return strings.ReplaceAll(text, "\x00", "")
	}
	for _, name := range []*string{
		&r.Suite, &r.Benchmark, &r.Variant, &r.Backend, &r.BackendVersion, &r.Model,
		&r.Env.Machine, &r.Env.Hostname, &r.Env.CPUModel, &r.Env.GPUName, &r.Env.GitCommit, &r.Env.GitBranch,
	} {
		*name = clean(*name)
	}
	for _, texts := range []map[string]string{r.Params, r.Applied, r.Tags, r.Env.Facts} {
		for name, text := range texts {
			kept := clean(name)
			if value := clean(text); kept != name || value != text {
				delete(texts, name)
				texts[kept] = value
			}
		}
	}
	return found
}
