package plotting

import (
	"io"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure/draw"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure/vegalite"
)

// svg is the format of pictures that are text.
const svg = "svg"

// images are the formats of pictures, which are also the endings of their files.
var images = map[string]func(w io.Writer, f *figure.Figure) error{
	svg:   func(w io.Writer, f *figure.Figure) error { return draw.SVG(w, f, draw.Options{}) },
	"png": func(w io.Writer, f *figure.Figure) error { return draw.PNG(w, f, draw.Options{}) },
}

// vegaLite is the specification of Vega-Lite, which other programs draw.
const vegaLite = "vega-lite"

// written writes a figure in a format.
func written(format string) func(w io.Writer, f *figure.Figure) error {
	if format != vegaLite {
		return images[format]
	}
	return func(w io.Writer, f *figure.Figure) error {
		text, err := vegalite.Spec(f)
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
