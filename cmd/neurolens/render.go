package main

import (
	"io"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
)

// svg is the format of pictures that are text.
const svg = "svg"

// images are the formats of pictures, which are also the endings of their files.
var images = map[string]func(w io.Writer, f *chart.Figure) error{
	svg:   func(w io.Writer, f *chart.Figure) error { return chart.SVG(w, f, chart.DrawOptions{}) },
	"png": func(w io.Writer, f *chart.Figure) error { return chart.PNG(w, f, chart.DrawOptions{}) },
}

// vegaLite is the specification of Vega-Lite, which other programs draw.
const vegaLite = "vega-lite"

// written writes a figure in a format.
func written(format string) func(w io.Writer, f *chart.Figure) error {
	if format != vegaLite {
		return images[format]
	}
	return func(w io.Writer, f *chart.Figure) error {
		text, err := chart.VegaLite(f)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
}

func isImage(format string) bool {
	_, is := images[format]
	return is
}
