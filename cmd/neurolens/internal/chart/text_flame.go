package chart

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// leastShare is the share of all samples below which a frame has no line of text.
const leastShare = .01

// flame returns a line for each frame, indented below the frame that called it, with its share of the samples.
func (p textPen) flame(f *Figure) (lines []string) {
	const share = 9 // columns
	total, left := 0., 0
	for _, m := range f.All() {
		total = max(total, m.High-m.Low)
	}
	for _, m := range f.All() {
		if m.High-m.Low < leastShare*total {
			left++
			continue
		}
		indent := strings.Repeat(" ", min(int(m.Y), p.width/2))
		name := p.labels([]string{m.Label}, p.width-share-len(indent))[0]
		lines = append(lines, term.Pad(indent+name, p.width-share, false)+fmt.Sprintf("%7.1f %%", 100*(m.High-m.Low)/total))
	}
	if left > 0 {
		lines = append(lines, p.sentence(fmt.Sprintf("%s below %g %% of the samples.", term.Count(left, "frame"), 100*leastShare))...)
	}
	return lines
}
