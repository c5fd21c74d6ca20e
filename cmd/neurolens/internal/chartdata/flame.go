package chartdata

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// maxDepth is how many rows a flame graph has.
const maxDepth = 100

// Flame draws the stacks of a profiled run as a flame graph: a frame lies below the one that called it, and is as wide as the samples in which
// it was seen. Of more frames than a figure has marks, those with the most samples are drawn.
func (m Maker) Flame(run *schema.Run) (*chart.Figure, error) {
	if !summary.IsStacks(run.Ops) {
		why := "ingest reads folded ones, of perf and py-spy"
		if run.Purpose == schema.PurposeProfile && len(run.Ops) == 0 {
			why = cmp.Or(views.WhyNothing(run), why)
		}
		return nil, refused("run %s has no stacks: %s", views.ShortRun(run.RunID), why)
	}
	root := summary.Frames(run.Ops)
	root.Name = "all"
	d := flameDrawer{Maker: m, run: run, total: root.Samples, least: minSamples(root, cmp.Or(m.Marks, chart.MaxMarks))}
	d.add(root, 0, 0)
	f := &chart.Figure{Kind: chart.Flame, Title: titled("stacks of run "+views.ShortRun(run.RunID), plain(run.Benchmark))}
	f.X = chart.Axis{Label: "samples", Whole: true}
	f.Y = chart.Axis{Label: "depth", Scale: chart.Categories}
	for depth := range d.depth + 1 {
		f.Y.Categories = append(f.Y.Categories, strconv.Itoa(depth))
	}
	f.Series = []chart.Series{{Style: chart.Frames, Marks: d.marks}}
	f.Notes = append(f.Notes, "a frame lies below the one that called it; frames beside each other are in alphabetical order, not in that of time")
	if d.left {
		f.Notes = append(f.Notes, fmt.Sprintf("not drawn: frames with fewer than %s, and those below %d others", term.Count(int(d.least), "sample"), maxDepth-1))
	}
	return f, nil
}

// flameDrawer makes the marks of a flame graph.
type flameDrawer struct {
	Maker
	run          *schema.Run
	total, least int64 // samples: all, and the fewest of a frame that is drawn
	depth        int
	left         bool // some frames are not drawn
	marks        []chart.Mark
}

// add draws a frame, whose left edge is at a number of samples, and the frames that it called.
func (d *flameDrawer) add(f *summary.Frame, at int64, depth int) {
	if f.Samples < d.least || depth >= maxDepth {
		d.left = true
		return
	}
	d.depth = max(d.depth, depth)
	share := float64(f.Samples) / float64(d.total)
	name := plain(f.Name)
	d.marks = append(d.marks, chart.Mark{
		X: float64(at), Y: float64(depth), Low: float64(at), High: float64(at + f.Samples), Run: d.run.RunID, Label: name,
		Text:    sentence(fmt.Sprintf("%s: %s of %s", name, term.Thousands(int(f.Samples)), term.Count(int(d.total), "sample")), views.Share(share)),
		Command: "neurolens show " + views.ShortRun(d.run.RunID) + " --ops" + d.Reader.OfStores(),
	})
	for _, called := range f.Calls {
		d.add(called, at, depth+1)
		at += called.Samples
	}
}

// minSamples returns the number of samples that a frame needs so that at most limit frames are drawn.
func minSamples(root *summary.Frame, limit int) int64 {
	var samples []int64
	var collect func(f *summary.Frame)
	collect = func(f *summary.Frame) {
		samples = append(samples, f.Samples)
		for _, called := range f.Calls {
			collect(called)
		}
	}
	collect(root)
	if len(samples) <= limit {
		return 1
	}
	slices.Sort(samples)
	return samples[len(samples)-limit-1] + 1
}
