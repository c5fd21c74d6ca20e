package task

import (
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// What lines of standard error are, by the habits of compilers, runtimes and readers of options.
var (
	// saysError announces an error: "sort: error: ", "ValueError: ", "Exception in thread main ...: ", "panic: ".
	saysError = regexp.MustCompile(`(?i)(error|exception|panic|fatal)(\b[^:]{0,40})?: `)
	// isHelp begins what to type instead, which goes on to the end.
	isHelp = regexp.MustCompile(`(?i)^usage\b|-help\b`)
	// isNote adds to another message, or says where to read more.
	isNote = regexp.MustCompile(`(?i)(^|: )(note|hint|help|tip|warning): |^(\S+: )?(for|see|more)\b.*(\b(help|information|details|documentation)\b|https?://)`)
	// saysExit has nothing but that the program ends, or how a child ended. The reason stands before it.
	saysExit = regexp.MustCompile(`(?i)(exit (status|code):? [0-9]+|[0-9]+ exit status|returned status [0-9]+|\*\*\* .*Error [0-9]+|(^|: )exiting\b[^:]*|^compilation (terminated|aborted)\.?)$`)
	// isTraceback begins a stack of Python, whose exception stands below it; elsewhere it stands above.
	isTraceback = regexp.MustCompile(`^Traceback \(most recent call last\):$`)
)

// TellingLine returns the line of a standard error that says why a program failed; empty: it has none. Programs say that last, but for
// what belongs to it: stacks and excerpts, which are indented or introduced by a colon, help about options, notes, and exit statuses of
// children. An error that is announced stands above such a stack, of which some lines are not indented. The message of an exception of
// Python may have several lines, of which the first is returned. A single indented line below completes what it stands under.
func TellingLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, " \t\r\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:] // of a progress bar that is drawn over
	}
	last, announced, other, help, apart := -1, -1, len(lines)-1, false, false
	stack, message := false, false // of Python
	for i, line := range lines {
		if line == "" || isIndented(line) {
			apart, message = true, false
			continue
		}
		says := saysError.MatchString(line)
		other = i
		switch {
		case isTraceback.MatchString(line):
			announced, stack, message = -1, true, false
		case stack: // the exception stands under it
			last, announced, apart, stack, message = i, i, false, false, true
		case message:
		case isHelp.MatchString(line):
			help = last >= 0
		case isNote.MatchString(line), saysExit.MatchString(line), help && !says:
		case !says && strings.HasSuffix(line, ":") && i+1 < len(lines) && isIndented(lines[i+1]):
		case says:
			last, announced, apart = i, i, false
		default:
			if last = i; !apart {
				announced = -1
			}
		}
	}
	switch {
	case announced >= 0:
		last = announced
	case last < 0:
		last = other
	}
	told := strings.TrimSpace(lines[last])
	if last+1 < len(lines) && isIndented(lines[last+1]) && (last+2 == len(lines) || !isIndented(lines[last+2])) {
		told = strings.TrimSuffix(told, ":") + ": " + strings.TrimSpace(lines[last+1])
	}
	return told
}

func isIndented(line string) bool { return line != "" && (line[0] == ' ' || line[0] == '\t') }
