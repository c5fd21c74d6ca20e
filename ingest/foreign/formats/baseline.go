package formats

import (
	"fmt"
	"strconv"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema/baseline"
)

// baselineFile is the format of files that bless --to writes.
var baselineFile = foreign.Format{
	Name:      "neurolens-baseline",
	About:     "NeuroLens baselines (neurolens bless SELECTION --to FILE)",
	Level:     "a run is a run of the blessed session, with the location of each metric, but no samples",
	Recognize: func(h *foreign.Head) bool { return h.Has("neurolens_baseline") },
	Read:      readBaseline,
}

// readBaseline reads the whole file at once: an error in a part makes all of it invalid.
func readBaseline(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	text, err := j.Value()
	if err != nil {
		return err
	}
	d, err := baseline.Decode(text)
	if err != nil {
		out.Refuse("", err)
		return nil
	}
	out.Version(strconv.Itoa(d.Version))
	for i := range d.Points {
		for _, r := range d.RunsOf(&d.Points[i]) {
			if err := out.Run(fmt.Sprintf("point %d", i+1), r); err != nil {
				return err
			}
		}
	}
	return nil
}
