package term

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// logWidth is the width of tables without a terminal, as the logs of CI systems show them.
const logWidth = 120

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// InForeground tells whether what is typed into the terminal that a file is goes to this process: not to a shell, in the background of
// which it is.
func InForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// TerminalSize returns the size of the terminal that a file is, or that of the smallest one.
func TerminalSize(f *os.File) (columns, rows int) {
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// TerminalWidth returns how wide tables are on a file: as the terminal that it is, else as $COLUMNS says, else as logs show.
func TerminalWidth(f *os.File, getenv func(string) string) int {
	if IsTerminal(f) {
		columns, _ := TerminalSize(f)
		return columns
	}
	if columns, err := strconv.Atoi(getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	return logWidth
}

// colors are the values of --color.
var colors = []string{"auto", "always", "never"}

// CheckColor refuses invalid values of --color. source is the flag or variable that has the value.
func CheckColor(source, value string) error {
	if value != "" && !slices.Contains(colors, value) {
		return fmt.Errorf("%s %q: want auto, always or never", source, value)
	}
	return nil
}

// Colored tells whether there is colour on a stream. asked is the value of --color; without one, or with auto, the variables that other
// programs know decide, and then whether the stream is a terminal.
func Colored(asked string, isTerminal bool, getenv func(string) string) bool {
	if asked == "" || asked == "auto" {
		asked, _ = ColorVariable(getenv)
	}
	return asked == "always" || asked != "never" && isTerminal
}

// ColorVariable returns what the variables that other programs know say about colour, always or never, and the variable that decides:
// those that switch it off for everything come first. Both are empty if no variable says anything.
func ColorVariable(getenv func(string) string) (value, name string) {
	on := func(name string) bool { value := getenv(name); return value != "" && value != "0" }
	switch {
	case getenv("NO_COLOR") != "":
		return "never", "NO_COLOR"
	case on("FORCE_COLOR"):
		return "always", "FORCE_COLOR"
	case on("CLICOLOR_FORCE"):
		return "always", "CLICOLOR_FORCE"
	case getenv("CLICOLOR") == "0":
		return "never", "CLICOLOR"
	case getenv("TERM") == "dumb":
		return "never", "TERM"
	}
	return "", ""
}

// ErrorKeeper keeps the first error of a writer, because cobra ignores the errors of its help.
type ErrorKeeper struct {
	To  io.Writer
	Err error
}

func (n *ErrorKeeper) Write(b []byte) (int, error) {
	written, err := n.To.Write(b)
	n.Err = cmp.Or(n.Err, err)
	return written, err
}
