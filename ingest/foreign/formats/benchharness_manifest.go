package formats

import (
	"maps"
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// harnessManifest says where a run happened: RunManifest of the harness.
type harnessManifest struct {
	Hardware struct {
		GPUModel    string         `json:"gpu_model"`
		CUDA        foreign.Text   `json:"cuda_version"`
		Driver      foreign.Text   `json:"driver_version"`
		Capability  foreign.Text   `json:"compute_capability"`
		GPUClock    foreign.Number `json:"gpu_clock_mhz"`
		MemoryClock foreign.Number `json:"memory_clock_mhz"`
		Persistence foreign.Text   `json:"persistence_mode"`
		PowerLimit  foreign.Number `json:"power_limit_w"`
	} `json:"hardware"`
	Software struct {
		PyTorch foreign.Text `json:"pytorch_version"`
		Triton  foreign.Text `json:"triton_version"`
		Python  foreign.Text `json:"python_version"`
		OS      string       `json:"os"`
	} `json:"software"`
	Git struct {
		Commit string `json:"commit"`
		Branch string `json:"branch"`
		Dirty  *bool  `json:"dirty"`
	} `json:"git"`
	Seeds     values `json:"seeds"`
	Config    values `json:"config"`
	StartTime string `json:"start_time"`
}

func (m *harnessManifest) environment(in *foreign.Input, r *schema.Run) {
	e := &r.Env
	e.GPUName, e.CUDAVersion, e.DriverVersion = m.Hardware.GPUModel, string(m.Hardware.CUDA), string(m.Hardware.Driver)
	e.PythonVersion, e.OS = string(m.Software.Python), m.Software.OS
	e.GitCommit, e.GitBranch, e.GitDirty = m.Git.Commit, m.Git.Branch, m.Git.Dirty
	r.BackendVersion = string(m.Software.PyTorch)
	for name, text := range map[string]string{
		"gpu.compute_capability": string(m.Hardware.Capability),
		"gpu.clock_mhz":          string(m.Hardware.GPUClock),
		"gpu.memory_clock_mhz":   string(m.Hardware.MemoryClock),
		"gpu.persistence_mode":   string(m.Hardware.Persistence),
		"gpu.power_limit_w":      string(m.Hardware.PowerLimit),
		"python.package.torch":   string(m.Software.PyTorch),
		"python.package.triton":  string(m.Software.Triton),
	} {
		foreign.SetFact(r, name, text)
	}
	setNumbers(r, "seed.", m.Seeds)
	setNumbers(r, "config.", m.Config)
	if at, source, err := in.Time(m.StartTime, foreign.ISO...); err == nil {
		foreign.SetStart(r, at, source)
	}
}

// setNumbers keeps numbers and booleans as facts. Texts could be anything, so they are left out.
func setNumbers(r *schema.Run, prefix string, v values) {
	for _, key := range slices.Sorted(maps.Keys(v)) {
		switch v[key].Kind() {
		case jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse:
			foreign.SetFact(r, prefix+key, foreign.TextOf(v[key]))
		}
	}
}
