package task

import (
	"cmp"
	"os"
	"strings"
)

// skipWords begin the line with which a benchmark says that it cannot run here. worker.py of package python has them too.
var skipWords = []string{"SKIPPED:", "HARDWARE/SOFTWARE LIMITATION:"}

// skipReason is what the last line of the output says of a benchmark that cannot run here, or that of standard error;
// empty where neither says so.
func (r *run) skipReason() string {
	return cmp.Or(skipOf(lastLine(r.stdout)), skipOf(lastLine(r.stderr)))
}

// skipOfFailure is that of a process that failed: what it wrote on standard error, if anything, says why it did.
func (r *run) skipOfFailure() string {
	return skipOf(cmp.Or(lastLine(r.stderr), lastLine(r.stdout)))
}

func lastLine(f *os.File) string {
	text := strings.TrimSpace(tail(f, tailSize))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// skipOf is the reason in a line that says that a benchmark cannot run here; empty: it does not say so.
func skipOf(line string) string {
	for _, word := range skipWords {
		if reason, is := strings.CutPrefix(line, word); is {
			return strings.ToValidUTF8(cut(cmp.Or(strings.TrimSpace(reason), word), 2*maxErrorLine), "")
		}
	}
	return ""
}
