package plotting

import (
	"io"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure/draw"
)

// svg is the format of pictures that are text.
const svg = "svg"

// images are the formats of pictures, which are also the endings of their files.
var images = map[string]func(w io.Writer, f *figure.Figure) error{
	svg:   func(w io.Writer, f *figure.Figure) error { return draw.SVG(w, f, draw.Options{}) },
	"png": func(w io.Writer, f *figure.Figure) error { return draw.PNG(w, f, draw.Options{}) },
}

func isImage(format string) bool {
	_, is := images[format]
	return is
}
