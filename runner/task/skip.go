package task

import (
	"os"
	"strings"
)

// skipWord begins the line with which a benchmark says that it cannot run here.
const skipWord = "SKIPPED:"

// skipReason is what the last line of the output says of a benchmark that cannot run here, or that of standard error;
// empty where neither says so.
func (r *run) skipReason() string {
	for _, f := range []*os.File{r.stdout, r.stderr} {
		text := strings.TrimSpace(tail(f, tailSize))
		line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
		if reason, is := strings.CutPrefix(line, skipWord); is {
			return strings.ToValidUTF8(cut(strings.TrimSpace(reason), 2*maxErrorLine), "")
		}
	}
	return ""
}
