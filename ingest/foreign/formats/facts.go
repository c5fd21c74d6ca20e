package formats

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// factRows are the facts of a machine as neurolens env --format json prints them.
type factRows []struct {
	Fact    string       `json:"fact"`
	Value   foreign.Text `json:"value"`
	Missing foreign.Text `json:"missing"`
}

// gpuName matches the facts with names of GPUs.
var gpuName = regexp.MustCompile(`^gpu\.[0-9]+\.name$`)

// describe sets the environment of a run, facts and columns, as bench does.
func (rows factRows) describe(r *schema.Run) {
	names := map[string]bool{}
	for _, row := range rows {
		switch {
		case row.Value != "":
			foreign.SetFact(r, row.Fact, string(row.Value))
			if gpuName.MatchString(row.Fact) {
				names[string(row.Value)] = true
			}
		case row.Missing != "":
			foreign.Put(&r.Env.Missing, row.Fact, string(row.Missing))
		}
	}
	e, known := &r.Env, r.Env.Facts
	e.HostID, e.Machine, e.Hostname, e.OS, e.OSKernel = known["host.id"], known["machine"], known["host.name"], known["os.name"], known["os.kernel"]
	e.CPUModel, e.CPUCount = known["cpu.model"], foreign.Number(known["cpu.threads"]).Int64()
	e.MemoryBytes, e.GPUCount = foreign.Number(known["memory.total"]).Int64(), foreign.Number(known["gpu.count"]).Int64()
	e.GPUName, e.DriverVersion, e.CUDAVersion = strings.Join(slices.Sorted(maps.Keys(names)), ", "), known["gpu.driver"], known["gpu.cuda"]
	e.GitCommit, e.GitBranch = known["git.commit"], known["git.branch"]
	if dirty, err := strconv.ParseBool(known["git.dirty"]); err == nil {
		e.GitDirty = &dirty
	}
}
