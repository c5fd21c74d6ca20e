package judge

import "github.com/neurolens/neurolens/schema/stat"

// Change returns the estimate that Negligible is asked about.
func (h *Halfway) Change(blocks []float64) stat.Estimate { return h.change(blocks) }
