package chart

import (
	"fmt"
	"image/color"
	"strings"
)

// inks are all colours, by what they are for, in light and in dark. An SVG has the name as a class, and a picture in pixels has the
// colour. Those of series are the colours of Okabe and Ito, which people of every colour vision tell apart, as much darker or lighter as
// three to one against the paper asks for.
var inks = []struct{ name, light, dark string }{
	{"paper", "#ffffff", "#0d1117"},
	{"text", "#1f2328", "#e6edf3"},
	{"muted", "#59636e", "#9198a1"},
	{"grid", "#eaecef", "#22282f"},
	{"axis", "#afb8c1", "#484f58"},
	{"guide", "#6e7781", "#8b949e"},
	{"margin", "#6e778120", "#8b949e28"},
	{"s0", "#0072b2", "#4ca3e6"},
	{"s1", "#c27c00", "#e69f00"},
	{"s2", "#00805e", "#2fc79b"},
	{"s3", "#b5568c", "#e19ac4"},
	{"s4", "#c4480a", "#ff8f52"},
	{"s5", "#6a3d9a", "#c4a7ee"},
	{"s6", "#57606a", "#b1bac4"},
	{"regressed", "#c4480a", "#ff8f52"},
	{"improved", "#00805e", "#2fc79b"},
	{"neutral", "#6e7781", "#8b949e"},
	{"unchanged", "#6e7781", "#8b949e"},
	{"warned", "#8f6300", "#e3b341"},
	{"failed", "#1f2328", "#e6edf3"},
	{"b0", "#0072b230", "#4ca3e638"},
	{"b1", "#c27c0030", "#e69f0038"},
	{"b2", "#00805e30", "#2fc79b38"},
	{"b3", "#b5568c30", "#e19ac438"},
	{"b4", "#c4480a30", "#ff8f5238"},
	{"b5", "#6a3d9a30", "#c4a7ee38"},
	{"b6", "#57606a30", "#b1bac438"},
	{"q0", "#eff5fb", "#1d4166"},
	{"q1", "#dbe8f5", "#1f4a73"},
	{"q2", "#c3d9ee", "#205380"},
	{"q3", "#a3c7e4", "#225c8c"},
	{"q4", "#7db0d9", "#256597"},
	{"q5", "#5797c9", "#2a6fa3"},
	{"q6", "#2f74ae", "#589acb"},
	{"q7", "#1f63a0", "#86b9e0"},
	{"q8", "#0f4a82", "#bcdaf2"},
	{"onlow", "#1f2328", "#e6edf3"},
	{"onhigh", "#ffffff", "#0d1117"},
	{"nothing", "#00000000", "#00000000"},
}

const (
	plainInks = 7 // s0 to s6
	shades    = 9 // q0 to q8
	firstHigh = 6 // of shades: has the other ink for its text
)

// colorsOf returns the colours of a picture in pixels by their names.
func colorsOf(dark bool) map[string]color.NRGBA {
	all := map[string]color.NRGBA{}
	for _, k := range inks {
		hex := k.light
		if dark {
			hex = k.dark
		}
		c := color.NRGBA{A: 0xff}
		fmt.Sscanf(hex, "#%02x%02x%02x%02x", &c.R, &c.G, &c.B, &c.A) // without an alpha, the last one stays
		all[k.name] = c
	}
	return all
}

// Stylesheet returns what a page has once for all SVGs that are embedded in it: their colours as variables, in light, in dark and in print,
// and the classes that use them. A page that has colours of its own sets the variables after it.
func Stylesheet() string {
	var b strings.Builder
	variables := func(dark bool) string {
		var b strings.Builder
		for i, k := range inks {
			if i > 0 {
				b.WriteByte(';')
			}
			hex := k.light
			if dark {
				hex = k.dark
			}
			fmt.Fprintf(&b, "--nl-%s:%s", k.name, hex)
		}
		return b.String()
	}
	fmt.Fprintf(&b, ".nl-fig{%s}\n", variables(false))
	fmt.Fprintf(&b, "@media screen and (prefers-color-scheme:dark){.nl-fig{%s}}\n", variables(true))
	for _, k := range inks {
		// The first value is for programs that know no variables.
		fmt.Fprintf(&b, ".nl-fig .f-%s{fill:%s;fill:var(--nl-%s)}\n", k.name, k.light, k.name)
		fmt.Fprintf(&b, ".nl-fig .l-%s{fill:none;stroke:%s;stroke:var(--nl-%s)}\n", k.name, k.light, k.name)
	}
	b.WriteString(".nl-fig text{font-family:system-ui,sans-serif;font-variant-numeric:tabular-nums}\n")
	b.WriteString(".nl-fig .halo{paint-order:stroke;stroke:#fff;stroke:var(--nl-paper);stroke-width:3px;stroke-linejoin:round}\n")
	b.WriteString(".nl-fig .mark:focus{outline:2px solid currentColor;outline-offset:2px}\n")
	return b.String()
}
