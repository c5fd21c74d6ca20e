package formats

import (
	"fmt"
	"math"
	"strconv"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// kinetoFacts is what a trace says besides its events.
type kinetoFacts struct {
	devices []struct {
		Name           string         `json:"name"`
		TotalGlobalMem foreign.Number `json:"totalGlobalMem"`
	}
	distributed struct {
		Backend   foreign.Text   `json:"backend"`
		Rank      foreign.Number `json:"rank"`
		WorldSize foreign.Number `json:"world_size"`
	}
	host      string
	runtime   foreign.Number // of CUDA, that PyTorch came with: 12040
	driver    foreign.Number // of CUDA, that the driver is for
	base      foreign.Number // ns since 1970 of the trace's zero
	version   foreign.Text
	overheads map[string]string // what the profiler recorded, which costs time
}

// read reads a member of the trace.
func (f *kinetoFacts) read(j *foreign.JSON, name string) error {
	switch name {
	case "schemaVersion":
		return j.Decode(&f.version)
	case "deviceProperties":
		return j.Decode(&f.devices)
	case "distributedInfo":
		return j.Decode(&f.distributed)
	case "host_name":
		return j.Decode(&f.host)
	case "cuda_runtime_version":
		return j.Decode(&f.runtime)
	case "cuda_driver_version":
		return j.Decode(&f.driver)
	case "baseTimeNanoseconds":
		return j.Decode(&f.base)
	case "record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules":
		var text foreign.Text
		if err := j.Decode(&text); err != nil {
			return err
		}
		if f.overheads == nil {
			f.overheads = map[string]string{}
		}
		f.overheads[name] = string(text)
		return nil
	}
	return j.Skip()
}

// set gives a run what is known.
func (f *kinetoFacts) set(r *schema.Run) {
	r.Env.Hostname, r.Env.Machine = f.host, f.host
	if len(f.devices) > 0 {
		r.Env.GPUName = f.devices[0].Name
		for _, d := range f.devices {
			if d.Name != r.Env.GPUName {
				r.Env.GPUName = ""
			}
		}
		r.Env.GPUCount = new(int64(len(f.devices)))
	}
	r.Env.CUDAVersion = cudaVersion(f.driver)
	foreign.SetFact(r, "cuda.runtime_version", cudaVersion(f.runtime))
	foreign.SetFact(r, "distributed.backend", string(f.distributed.Backend))
	foreign.SetParam(r, "rank", string(f.distributed.Rank))
	foreign.SetParam(r, "world_size", string(f.distributed.WorldSize))
	for name, text := range f.overheads {
		foreign.SetFact(r, "profiler."+name, text)
	}
}

// start is when the trace began, in ns since 1970. Older traces have such times in their events.
func (f *kinetoFacts) start(first int64) (int64, bool) {
	const year2000 = 946684800e9
	base := f.base.Int64()
	switch {
	case base != nil && *base > 0 && first <= math.MaxInt64-*base:
		return *base + first, true
	case base == nil && first > year2000:
		return first, true
	}
	return 0, false
}

// cudaVersion is how people write the number of a version of CUDA: 12040 is 12.4.
func cudaVersion(n foreign.Number) string {
	v := n.Int64()
	if v == nil || *v < 1000 {
		return ""
	}
	return fmt.Sprintf("%d.%s", *v/1000, strconv.FormatInt(*v%1000/10, 10))
}
