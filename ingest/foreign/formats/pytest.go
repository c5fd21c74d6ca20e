package formats

import (
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

func pytestBenchmark() foreign.Format {
	return foreign.Format{
		Name:  "pytest-benchmark",
		About: "pytest-benchmark: JSON of --benchmark-json, --benchmark-save and --benchmark-autosave",
		Level: "a run is a benchmark of a pytest process, a sample is a round: the mean of its iterations",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("machine_info", "commit_info", "benchmarks") || h.Has("benchmarks[].fullname", "benchmarks[].stats")
		},
		Read: readPytest,
	}
}

func readPytest(in *foreign.Input, out *foreign.Output) error {
	all, err := headers(in, out, (*pytestHeader).member, "machine_info", "commit_info", "datetime", "version")
	if err != nil {
		return err
	}
	j, err := in.JSON()
	if err != nil {
		return err
	}
	for i := 0; i == 0 || another(j); i++ {
		r := pytestReader{headerAt(all, i), i < len(all), in, out}
		if err := out.RefuseMismatch(r.read(j)); err != nil {
			return err
		}
	}
	return nil
}

// pytestReader reads an object of a file. Its header may be known already.
type pytestReader struct {
	header *pytestHeader
	known  bool
	in     *foreign.Input
	out    *foreign.Output
}

func (r *pytestReader) read(j *foreign.JSON) error {
	r.out.Version(string(r.header.version))
	return j.Members(func(name string) error {
		switch {
		case name == "benchmarks":
			return r.out.RefuseMismatch(j.Elements(func(int) error {
				var b pytestResult
				if err := j.Decode(&b); err != nil {
					return r.out.RefuseMismatch(err)
				}
				return b.yield(r.header.run(r.in), j.Where(), r.out)
			}))
		case r.known:
			return j.Skip()
		}
		return r.out.RefuseMismatch(r.header.member(j, name))
	})
}

// pytestHeader is what is known of all benchmarks of a file. Some of it stands behind them.
type pytestHeader struct {
	machine  pytestMachine
	commit   pytestCommit
	datetime foreign.Text
	version  foreign.Text
}

type pytestMachine struct {
	Node           foreign.Text `json:"node"`
	Architecture   foreign.Text `json:"machine"`
	System         foreign.Text `json:"system"`
	Release        foreign.Text `json:"release"`
	Implementation foreign.Text `json:"python_implementation"`
	Compiler       foreign.Text `json:"python_compiler"`
	PythonVersion  foreign.Text `json:"python_version"`
	CPU            struct {
		Brand    foreign.Text   `json:"brand"` // of versions before 3.4
		BrandRaw foreign.Text   `json:"brand_raw"`
		Count    foreign.Number `json:"count"`
	} `json:"cpu"`
}

type pytestCommit struct {
	ID      foreign.Text `json:"id"`
	Branch  foreign.Text `json:"branch"`
	Project foreign.Text `json:"project"`
	Dirty   *bool        `json:"dirty"`
}

func (h *pytestHeader) member(j *foreign.JSON, name string) error {
	switch name {
	case "machine_info":
		return j.Decode(&h.machine)
	case "commit_info":
		return j.Decode(&h.commit)
	case "datetime":
		return j.Decode(&h.datetime)
	case "version":
		return j.Decode(&h.version)
	}
	return j.Skip()
}

// run is a run with what holds for all of a file.
func (h *pytestHeader) run(in *foreign.Input) schema.Run {
	r := schema.Run{Env: schema.Env{
		Machine: string(h.machine.Node), Hostname: string(h.machine.Node),
		OS: strings.ToLower(string(h.machine.System)), OSKernel: string(h.machine.Release),
		CPUModel: string(h.machine.CPU.BrandRaw), CPUCount: h.machine.CPU.Count.Int64(),
		PythonVersion: string(h.machine.PythonVersion),
	}}
	if r.Env.CPUModel == "" {
		r.Env.CPUModel = string(h.machine.CPU.Brand)
	}
	if id := string(h.commit.ID); id != "" && id != "unversioned" && id != "unknown" {
		r.Env.GitCommit, r.Env.GitDirty = id, h.commit.Dirty
	}
	if branch := string(h.commit.Branch); !strings.HasPrefix(branch, "(") { // (unknown), (detached head)
		r.Env.GitBranch = branch
	}
	foreign.SetFact(&r, foreign.FactVersion, string(h.version))
	foreign.SetFact(&r, "architecture", string(h.machine.Architecture))
	foreign.SetFact(&r, "python_implementation", string(h.machine.Implementation))
	foreign.SetFact(&r, "python_compiler", string(h.machine.Compiler))
	foreign.SetFact(&r, "project", string(h.commit.Project))
	// Versions before 5 write the time of UTC without a zone.
	for _, text := range []string{string(h.datetime), string(h.datetime) + "Z"} {
		if at, source, err := in.Time(text, foreign.ISO[0]); err == nil {
			foreign.SetStart(&r, at, source)
		}
	}
	return r
}
