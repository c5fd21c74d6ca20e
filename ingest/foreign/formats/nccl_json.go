package formats

import (
	"errors"
	"fmt"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// ncclIterations are the times of the iterations of a result, with -I.
type ncclIterations struct {
	Skipped foreign.Number `json:"skipped_iterations"`
	Times   jsontext.Value `json:"times_us"`
}

type ncclRow struct {
	Size           foreign.Text    `json:"size"`
	Type           string          `json:"type"`
	RedOp          string          `json:"redop"`
	Root           foreign.Number  `json:"root"` // padded
	OutOfPlace     *ncclResult     `json:"out_of_place"`
	InPlace        *ncclResult     `json:"in_place"`
	OutOfPlaceIter *ncclIterations `json:"out_of_place_per_iter"`
	InPlaceIter    *ncclIterations `json:"in_place_per_iter"`
	Iterations     foreign.Number  `json:"actual_iterations"`
	Experiment     string          `json:"experiment_name"`
}

// ncclFile is the part before the results. The environment of the process is there as well, and is not read.
type ncclFile struct {
	launch  ncclLaunch
	started string
}

func readNCCLJSON(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	f := &ncclFile{}
	err = j.Members(func(name string) error {
		switch name {
		case "version":
			var version foreign.Text
			err := j.Decode(&version)
			out.Version("JSON " + string(version))
			return err
		case "start_time":
			var started foreign.Text
			err := j.Decode(&started)
			f.started = string(started)
			return err
		case "args":
			var args []string
			err := j.Decode(&args)
			if len(args) > 0 {
				if m := ncclProgram.FindStringSubmatch(args[0]); m != nil {
					f.launch.program = m[1]
				}
			}
			return out.RefuseMismatch(err)
		case "nccl_version":
			var code foreign.Number
			err := j.Decode(&code)
			f.launch.version = ncclVersion(code)
			return out.RefuseMismatch(err)
		case "config":
			return out.RefuseMismatch(f.config(j))
		case "results":
			return out.RefuseMismatch(j.Elements(func(int) error { return f.row(in, out, j) }))
		}
		return j.Skip()
	})
	return out.RefuseMismatch(err)
}

func (f *ncclFile) config(j *foreign.JSON) error {
	var c struct {
		Threads    foreign.Number `json:"nthreads"`
		GPUs       foreign.Number `json:"ngpus"`
		Iterations foreign.Number `json:"iterations"`
		Aggregated foreign.Text   `json:"aggregated_iterations"`
		Graph      foreign.Text   `json:"graph"`
		Blocking   foreign.Text   `json:"blocking_collectives"`
		Devices    []struct {
			Host   string `json:"hostname"`
			Device string `json:"device_info"`
		} `json:"devices"`
	}
	if err := j.Decode(&c); err != nil {
		return err
	}
	f.launch.set("nthreads", string(c.Threads))
	f.launch.set("ngpus", string(c.GPUs))
	if c.Aggregated != "1" {
		f.launch.set("agg_iters", string(c.Aggregated))
	}
	if c.Graph != "0" {
		f.launch.set("graph", string(c.Graph))
	}
	if c.Blocking == "true" {
		f.launch.set("blocking", "true")
	}
	f.launch.iters = c.Iterations
	for _, d := range c.Devices {
		f.launch.add(d.Host, d.Device)
	}
	if threads, gpus := c.Threads.Int64(), c.GPUs.Int64(); threads != nil && gpus != nil && *threads > 0 && *gpus > 0 {
		f.launch.devices *= min(*threads, maxHosts) * min(*gpus, maxHosts) // one of each process is listed
	}
	return nil
}

// row makes the runs of a size.
func (f *ncclFile) row(in *foreign.Input, out *foreign.Output, j *foreign.JSON) error {
	var row ncclRow
	if err := j.Decode(&row); err != nil {
		return out.RefuseMismatch(err)
	}
	where := j.Where()
	if row.OutOfPlace == nil && row.InPlace == nil {
		out.Refuse(where, errors.New("it has neither out_of_place nor in_place"))
		return nil
	}
	for _, half := range []struct {
		place  string
		result *ncclResult
		iters  *ncclIterations
	}{{outOfPlace, row.OutOfPlace, row.OutOfPlaceIter}, {inPlace, row.InPlace, row.InPlaceIter}} {
		if half.result == nil {
			continue
		}
		r := f.launch.run()
		ncclAxis(&r, "size", string(row.Size))
		ncclAxis(&r, "type", row.Type)
		ncclAxis(&r, "redop", row.RedOp)
		ncclAxis(&r, "root", string(row.Root))
		foreign.SetParam(&r, "experiment", row.Experiment)
		foreign.SetParam(&r, "place", half.place)
		if at, source, err := in.Time(f.started, "2006-01-02 15:04:05"); err == nil {
			foreign.SetStart(&r, at, source)
		}
		iters := row.Iterations
		if iters == "" {
			iters = f.launch.iters
		}
		half.result.fill(&r, iters)
		if err := half.iters.fill(&r); err != nil {
			out.Refuse(where, err)
			continue
		}
		if err := out.Run(where, r); err != nil {
			return err
		}
	}
	return nil
}

// fill replaces the mean by the times of the iterations. Those that the summary of the tool skips are warm-up.
func (n *ncclIterations) fill(r *schema.Run) error {
	if n == nil {
		return nil
	}
	s, err := foreign.ReadSeries(n.Times, "us")
	if err != nil {
		return fmt.Errorf("reading times_us: %w", err)
	}
	m := r.Metric("latency")
	if s.Len() == 0 || m == nil {
		return nil
	}
	*m = s.Metric("latency", schema.LevelIteration)
	m.Clock = "cuda_event"
	skip := n.Skipped.Int64()
	if skip == nil || *skip <= 0 || *skip >= int64(s.Len()) {
		return nil
	}
	if m.Ticks != nil {
		m.WarmupTicks, m.Ticks = m.Ticks[:*skip], m.Ticks[*skip:]
	} else {
		m.WarmupReals, m.Reals = m.Reals[:*skip], m.Reals[*skip:]
	}
	return nil
}
