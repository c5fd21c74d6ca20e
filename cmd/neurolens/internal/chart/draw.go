package chart

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// DrawOptions are how a figure is drawn.
type DrawOptions struct {
	Width    int               // in pixels; 0: 720
	Height   int               // in pixels; 0, or less than the rows of the figure take: what it needs
	Dark     bool              // of pictures in pixels; an SVG is light or dark as its reader's system is
	Embedded bool              // part of a page that has Stylesheet once, and its own paper
	Untitled bool              // its title and its notes stand beside it, as texts of the page
	Prefix   string            // of ids, which differ from those of other figures of a page
	Link     func(Mark) string // where a mark leads to: a place in the page, or an address of http or https; empty: nowhere
}

const (
	usualWidth = 720
	minWidth   = 240
	maxPixels  = 8192 // a side of a picture
)

// SVG writes a figure as an SVG.
func SVG(w io.Writer, f *Figure, o DrawOptions) error {
	s, err := newSheet(f, o, drawnThere)
	if err != nil {
		return err
	}
	canvas := newSVGCanvas(s.height)
	s.canvas, s.structure = canvas, canvas
	s.draw()
	if canvas.err != nil {
		return canvas.err
	}
	var b bytes.Buffer
	s.open(&b)
	b.Write(canvas.b.Bytes())
	b.WriteString("</svg>\n")
	_, err = w.Write(b.Bytes())
	return err
}

// open begins the document: its size, what is said to people who do not see it, and its colours.
func (s *sheet) open(b *bytes.Buffer) {
	prefix := idPrefix(s.options.Prefix)
	role := "img"
	if s.options.Link != nil {
		role = "group" // what is in an img is not read out: no link could be followed
	}
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" class="nl-fig nl-%s" role="%s" aria-labelledby="%st %sd" width="%s" height="%s" viewBox="0 0 %s %s" font-family="system-ui, sans-serif">`+"\n",
		s.kind(), role, prefix, prefix, px(s.size.right), px(s.height), px(s.size.right), px(s.height))
	fmt.Fprintf(b, "<title id=\"%st\">%s</title>\n", prefix, escaped(s.heading()))
	fmt.Fprintf(b, "<desc id=\"%sd\">%s</desc>\n", prefix, escaped(s.description()))
	if !s.options.Embedded {
		b.WriteString("<style>\n" + Stylesheet() + "</style>\n")
	}
}

// kind is the figure's as part of a class.
func (s *sheet) kind() string {
	switch s.figure.Kind {
	case ECDF, Runs, History, Forest, Scatter, Heatmap, Lines, Pareto:
		return string(s.figure.Kind)
	}
	return "other"
}

// idPrefix leaves what every id may have.
func idPrefix(s string) string {
	kept := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s)
	return "nl-" + kept
}

// heading is what the figure shows.
func (s *sheet) heading() string {
	if title := whole(s.figure.Title); title != "" {
		return title
	}
	return s.kind()
}

// description says in words what the picture has.
func (s *sheet) description() string {
	var parts []string
	say := func(what string, a Axis) {
		if a.Label != "" {
			parts = append(parts, what+whole(a.Label)+".")
		}
	}
	say("Along: ", s.figure.X)
	say("Up: ", s.figure.Y)
	say("In colours: ", s.figure.Values)
	parts = append(parts, marksInWords(s.figure.Marks()))
	for _, note := range s.figure.Notes {
		parts = append(parts, whole(note))
	}
	return strings.Join(parts, " ")
}

func marksInWords(n int) string {
	switch n {
	case 0:
		return "No values to show."
	case 1:
		return "One mark."
	}
	return strconv.Itoa(n) + " marks."
}

// PNG writes a figure as a PNG, with two dots a pixel.
func PNG(w io.Writer, f *Figure, o DrawOptions) error {
	o.Embedded = false
	s, err := newSheet(f, o, drawnHere)
	if err != nil {
		return err
	}
	canvas := vgimg.NewWith(
		vgimg.UseWH(vg.Length(s.size.right), vg.Length(s.height)), vgimg.UseDPI(144), vgimg.UseBackgroundColor(s.palette["paper"]))
	s.canvas, s.structure = canvas, unstructured{}
	s.draw()
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(w); err != nil {
		return fmt.Errorf("writing a PNG: %w", err)
	}
	return nil
}

// check refuses what cannot be drawn.
func check(f *Figure, o DrawOptions) error {
	if f == nil {
		return errors.New("drawing: no figure")
	}
	if o.Width < 0 || o.Width > maxPixels || o.Height < 0 || o.Height > maxPixels {
		return fmt.Errorf("drawing %d x %d pixels: a side has 0 to %d", o.Width, o.Height, maxPixels)
	}
	return nil
}

// safeLink leaves out what a click must not do: run a script, or leave for another kind of place.
func safeLink(link string) string {
	u, err := url.Parse(link)
	if err != nil || len(link) > longestCommand {
		return ""
	}
	switch u.Scheme {
	case "", "http", "https":
		return link
	}
	return ""
}
