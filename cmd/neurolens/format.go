package main

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/measuring"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query/answer"
)

// outputFormat is the format asked for, else the one that suits where stdout goes.
func (a *app) outputFormat() (string, error) {
	switch format := a.format; {
	case a.json:
		return output.FormatJSON, nil
	case format != "":
		return knownFormat("--format", format)
	}
	return a.defaultFormat()
}

// defaultFormat is the format of a result for which no flag asks for one.
func (a *app) defaultFormat() (string, error) {
	switch format := a.getenv("NEUROLENS_FORMAT"); {
	case format != "":
		return knownFormat("NEUROLENS_FORMAT", format)
	case a.terminal:
		return output.FormatTable, nil
	}
	return output.FormatPlain, nil
}

func knownFormat(source, format string) (string, error) {
	if !slices.Contains(output.Formats, format) {
		return "", usageErrorf("%s %q: want one of %s", source, format, strings.Join(output.Formats, " "))
	}
	return format, nil
}

// screen is what of standard error can be drawn over; nil where nobody watches.
func (a *app) screen() *term.Screen {
	if !a.errTerminal || a.getenv("TERM") == "dumb" {
		return nil
	}
	return term.NewScreen(a.stderr, a.errSize)
}

// console is where the progress of a session is said whose summary is printed in a format.
func (a *app) console(format string) measuring.Console {
	return measuring.Console{W: a.stderr, Screen: a.screen(), Color: a.getenv("NO_COLOR") == "", JSON: format == output.FormatJSONL, Now: a.now}
}

// reader is who reads screens.
func (a *app) reader() wording.Reader {
	return wording.Reader{Width: a.width, Now: a.now(), Stores: a.stores}
}

// printer is what writes results to standard output.
func (a *app) printer() output.Printer {
	return output.Printer{Out: a.stdout, Terminal: a.terminal, Color: a.terminal && a.getenv("NO_COLOR") == "", Width: a.width, CSVRaw: a.csvRaw}
}

// print writes a result in a format. people makes the view that table and md show.
func (a *app) print(format string, t answer.Table, people func() term.View) error {
	return a.printer().Print(format, t, people)
}
