package layout

import (
	"strings"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
)

// kernelEnv is env.json: the environment of the newest run, and the libraries, machines and commits of all runs.
type kernelEnv struct {
	OS           *string     `json:"os"`
	OSVersion    *string     `json:"os_version"`
	Kernel       *string     `json:"kernel"`
	Python       *string     `json:"python_version"`
	Architecture *string     `json:"architecture"`
	Processor    *string     `json:"processor"`
	Git          *kernelGit  `json:"git"`
	CUDA         *kernelCUDA `json:"cuda"`
	NumPy        *string     `json:"numpy_version"`
	// Libraries are the versions of the packages that any of the runs has loaded; of several versions, that of the newest run.
	Libraries map[string]string `json:"libraries"`
	Machines  []string          `json:"machines"` // all machines of the runs
	Commits   []string          `json:"commits"`  // all commits of the runs
}

type kernelGit struct {
	Commit *string `json:"commit"`
	Branch *string `json:"branch"`
	Dirty  *bool   `json:"dirty"`
}

type kernelCUDA struct {
	Available bool    `json:"available"`
	Version   *string `json:"version,omitempty"`
	Count     number  `json:"device_count,omitempty"`
	Device    *string `json:"device_name,omitempty"`
}

// kernelRunEnv is the environment of a run, with members of env.json: a later call may replace env.json by the environment of other runs.
type kernelRunEnv struct {
	OS           *string     `json:"os,omitempty"`
	Kernel       *string     `json:"kernel,omitempty"`
	Python       *string     `json:"python_version,omitempty"`
	Architecture *string     `json:"architecture,omitempty"`
	Git          *kernelGit  `json:"git,omitempty"`
	CUDA         *kernelCUDA `json:"cuda,omitempty"`
	NumPy        *string     `json:"numpy_version,omitempty"`
}

func kernelRunEnvOf(r *schema.Run) kernelRunEnv {
	e := kernelEnvOf([]*schema.Run{r})
	return kernelRunEnv{e.OS, e.Kernel, e.Python, e.Architecture, e.Git, e.CUDA, e.NumPy}
}

func kernelEnvOf(runs []*schema.Run) kernelEnv {
	e := kernelEnv{Machines: []string{}, Commits: []string{}, Libraries: map[string]string{}}
	if len(runs) == 0 {
		return e
	}
	for _, r := range runs {
		e.Machines, e.Commits = with(e.Machines, r.Env.Machine), with(e.Commits, r.Env.GitCommit)
	}
	env := &runs[len(runs)-1].Env
	os := env.OS
	if os != "" {
		os = strings.ToUpper(os[:1]) + os[1:]
	}
	e.OS, e.OSVersion, e.Kernel, e.Python = files.Optional(os), files.Optional(env.Facts["os.build"]), files.Optional(env.OSKernel), files.Optional(pythonVersion(runs))
	e.Processor = files.Optional(env.CPUModel)
	for _, r := range runs { // a run that did not start, or does not use a package, does not know its version
		for name, version := range r.Env.Facts {
			if library, is := strings.CutPrefix(name, factPackage); is {
				e.Libraries[library] = version
			}
		}
		if version := r.Env.Facts["numpy.version"]; version != "" {
			e.NumPy = &version
		}
		if name := r.Env.Facts["cpu.architecture"]; name != "" {
			e.Architecture = &name
		}
	}
	if version := e.Libraries["numpy"]; version != "" {
		e.NumPy = &version
	}
	if env.GitCommit != "" {
		e.Git = &kernelGit{files.Optional(env.GitCommit), files.Optional(env.GitBranch), env.GitDirty}
	}
	for _, r := range runs { // the newest run that knows a device: a run that did not start may not
		if gpu := &r.Env; gpu.GPUName != "" || gpu.CUDAVersion != "" {
			e.CUDA = &kernelCUDA{true, files.Optional(gpu.CUDAVersion), integer(gpu.GPUCount), files.Optional(gpu.GPUName)}
		}
	}
	return e
}

// pythonVersion returns the version of the newest run that knows it: a skipped run has started no Python.
func pythonVersion(runs []*schema.Run) (version string) {
	for _, r := range runs {
		if r.Env.PythonVersion != "" {
			version = r.Env.PythonVersion
		}
	}
	return version
}
