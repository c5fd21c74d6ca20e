package term

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// logWidth is how wide tables are where no terminal is: the logs of CI systems show that many columns.
const logWidth = 120

// IsTerminal tells whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// InForeground tells whether what is typed into the terminal that a file is goes to this process: not to a shell, in the background of
// which it is.
func InForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// TerminalSize is the size of the terminal that a file is, or that of the smallest one.
func TerminalSize(f *os.File) (columns, rows int) {
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// TerminalWidth is how wide tables are on a file: as the terminal that it is, else as $COLUMNS says, else as logs show.
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
