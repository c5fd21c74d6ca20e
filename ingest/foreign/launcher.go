package foreign

import (
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// LauncherTag is the pattern of what launchers and logs put before the lines of a program: mpirun --tag-output, srun --label,
// pdsh and docker compose, the name of a node in brackets, syslog, a time.
const LauncherTag = `(?:\[\d+,\d+\]<std(?:out|err)>: ?| *\d{1,6}: |\[[\w.-]+\] |[\w.-]+ +\| |\d{4}-\d\d-\d\d[T ]\d\d:\d\d:?\S* ` +
	`|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./-]+(?:\[\d+\])?: )`

var (
	launcherTags = regexp.MustCompile(`^` + LauncherTag + `{1,3}`)
	// mpirun also writes its tag inside a line, wherever a write of the program begins.
	launcherTagInside = regexp.MustCompile(`\[\d+,\d+\]<std(?:out|err)>:`)
)

// Unlaunched is a line without the tags of the program that launched the one which printed it.
func Unlaunched(line string) string {
	line = launcherTags.ReplaceAllString(line, "")
	if strings.Contains(line, "]<std") {
		line = launcherTagInside.ReplaceAllString(line, " ")
	}
	return line
}
