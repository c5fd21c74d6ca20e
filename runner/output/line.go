package output

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// maxLine is the longest line that is read, in B.
const maxLine = 16 << 20

// anyLine splits at newlines, carriage returns and both together. An empty line more or less matches nothing.
func anyLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexAny(data, "\n\r"); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// eachMatch passes the text of each match in an output to found, until found wants no more.
func eachMatch(output io.Reader, expression *regexp.Regexp, found func(text []byte) (more bool, err error)) error {
	lines := bufio.NewScanner(output)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	lines.Split(anyLine)
	group := groupOf(expression)
	for number := 1; lines.Scan(); number++ {
		line := lines.Bytes()
		for _, at := range expression.FindAllSubmatchIndex(line, maxMatches+1) {
			if at[2*group] < 0 {
				return fmt.Errorf("line %d matches, but the group does not", number)
			}
			if more, err := found(line[at[2*group]:at[2*group+1]]); err != nil || !more {
				return err
			}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line has more than %d MiB", maxLine>>20)
	}
	return lines.Err()
}

// groupOf is the number of the group that has the value: the first named one, else the first, else the whole match.
func groupOf(expression *regexp.Regexp) int {
	for i, name := range expression.SubexpNames() {
		if name != "" {
			return i
		}
	}
	return min(expression.NumSubexp(), 1)
}
