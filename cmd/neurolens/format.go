package main

import (
	"os"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/progress"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
)

// outputFormat is the format asked for, else the table for people, wherever stdout goes: the log of a CI system is a pipe.
func (a *app) outputFormat() (string, error) {
	switch format := a.format; {
	case a.json:
		return term.FormatJSON, nil
	case format != "":
		return knownFormat("--format", format)
	}
	return a.defaultFormat()
}

// defaultFormat is the format of a result for which no flag asks for one.
func (a *app) defaultFormat() (string, error) {
	if format := a.getenv("NEUROLENS_FORMAT"); format != "" {
		return knownFormat("NEUROLENS_FORMAT", format)
	}
	return term.FormatTable, nil
}

func knownFormat(source, format string) (string, error) {
	if !slices.Contains(term.Formats, format) {
		return "", usageErrorf("%s %q: want one of %s", source, format, strings.Join(term.Formats, " "))
	}
	return format, nil
}

// screen is what of standard error can be drawn over; nil where nobody watches.
func (a *app) screen() *term.Screen {
	if !a.errTerminal || a.getenv("TERM") == "dumb" {
		return nil
	}
	s := term.NewScreen(a.stderr, a.errSize)
	s.Hidden = func() bool { return !term.InForeground(os.Stderr) }
	onContinue(s.Forget)
	return s
}

// console is where the progress of a session is said whose summary is printed in a format.
func (a *app) console(format string) progress.Console {
	return progress.Console{W: a.stderr, Screen: a.screen(), Color: term.Colored(a.color, a.errTerminal, a.getenv), JSON: format == term.FormatJSONL, Now: a.now}
}

// reader is who reads screens.
func (a *app) reader() views.Reader {
	return views.Reader{Width: a.width, Whole: !a.terminal, Now: a.now(), Stores: a.stores}
}

// printer is what writes results to standard output.
func (a *app) printer() term.Printer {
	return term.Printer{Out: a.stdout, Page: a.page(), Terminal: a.terminal, CSVRaw: a.csvRaw}
}

// page is what tables are printed on. On a pipe names are whole: nobody can make a log wider to read the rest.
func (a *app) page() term.Page {
	return term.Page{Width: a.width, Color: term.Colored(a.color, a.terminal, a.getenv), Whole: !a.terminal}
}

// print writes a result in a format. view makes the view that table and md show.
func (a *app) print(format string, t answer.Table, view func() term.View) error {
	return a.printer().Print(format, t, view)
}
