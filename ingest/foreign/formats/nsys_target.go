package formats

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// nsysTarget is the machine and the command of a report.
type nsysTarget struct {
	facts   map[string]string // of TARGET_INFO_SYSTEM_ENV: some of them
	epoch   int64             // ns since 1970 of the report's zero
	gpus    []nsysGPU
	command string // base name of the first command
	scripts []string
}

type nsysGPU struct {
	id   int64
	name string
}

// targetFacts are the facts that are kept. The report has others, including the whole environment of the process.
var targetFacts = []string{
	"CpuCores", "CpuDescription", "CpuArchitecture", "NvDriverVersion", "OsDescription", "CudaDriverVersion", "SoftwareReleaseVersion", "Hostname",
}

func (t *nsysTarget) read(n *nsysReport) error {
	t.facts, t.command = map[string]string{}, "nsys"
	for _, f := range []func(*nsysReport) error{t.readExport, t.readSystem, t.readStart, t.readGPUs, t.readCommand} {
		if err := f(n); err != nil {
			return err
		}
	}
	return nil
}

// readExport finds which version made the report.
func (t *nsysTarget) readExport(n *nsysReport) error {
	table := "META_DATA_EXPORT"
	if !n.has(table, "name", "value") {
		table = "EXPORT_META_DATA"
	}
	if !n.has(table, "name", "value") {
		return nil
	}
	query := `SELECT CAST(substr(value, 1, 200) AS BLOB) FROM ` + table + ` WHERE name = 'EXPORT_PRODUCT_VERSION'`
	return n.each(query, func(row []any) error {
		n.out.Version(text(row[0]))
		return nil
	})
}

func (t *nsysTarget) readSystem(n *nsysReport) error {
	const table = "TARGET_INFO_SYSTEM_ENV"
	if !n.has(table, "name", "value") {
		return nil
	}
	query := `SELECT CAST(name AS BLOB), CAST(substr(value, 1, 500) AS BLOB) FROM ` + table + ` WHERE name IN ('` + strings.Join(targetFacts, "', '") + `')`
	return n.each(query, func(row []any) error {
		if name := text(row[0]); t.facts[name] == "" {
			t.facts[name] = text(row[1])
		}
		return nil
	})
}

func (t *nsysTarget) readStart(n *nsysReport) error {
	const table = "TARGET_INFO_SESSION_START_TIME"
	if !n.has(table, "utcEpochNs") {
		return nil
	}
	return n.each(`SELECT utcEpochNs FROM `+table+` LIMIT 1`, func(row []any) error {
		t.epoch, _ = row[0].(int64)
		return nil
	})
}

// readGPUs finds the GPUs of the machine: all of them, not only those that were used.
func (t *nsysTarget) readGPUs(n *nsysReport) error {
	table := "TARGET_INFO_GPU"
	if !n.has(table, "name") {
		table = "TARGET_INFO_CUDA_GPU" // until 2021
	}
	if !n.has(table, "name") {
		return nil
	}
	query := fmt.Sprintf(`SELECT %s, CAST(substr(name, 1, 200) AS BLOB) FROM %s LIMIT 1024`, n.first(table, "id", "cuDevice", "cudaId"), table)
	return n.each(query, func(row []any) error {
		id, ok := row[0].(int64)
		if !ok {
			id = int64(len(t.gpus))
		}
		t.gpus = append(t.gpus, nsysGPU{id, text(row[1])})
		return nil
	})
}

// readCommand finds what was launched: the program, and the Python scripts among its arguments. Other arguments are not
// kept.
func (t *nsysTarget) readCommand(n *nsysReport) error {
	const table = "META_DATA_CAPTURE"
	if !n.has(table, "name", "value") {
		return nil
	}
	query := `SELECT CAST(name AS BLOB), CAST(substr(value, 1, 4096) AS BLOB) FROM ` + table + ` WHERE name = 'PROCESS_0:COMMAND'
		OR name LIKE 'PROCESS\_0:ARGUMENT\_%' ESCAPE '\' AND value LIKE '%.py' LIMIT 100`
	return n.each(query, func(row []any) error {
		base := path.Base(text(row[1]))
		if text(row[0]) == "PROCESS_0:COMMAND" {
			t.command = base
		} else {
			t.scripts = append(t.scripts, base)
		}
		return nil
	})
}

// script is the name of a program for people: for Python, the script that it ran.
func (t *nsysTarget) script(program string) string {
	if strings.HasPrefix(program, "python") && len(t.scripts) > 0 {
		return t.scripts[0]
	}
	return program
}

// set gives a run what is known of the machine, and of the devices it used.
func (t *nsysTarget) set(r *schema.Run, devices []int64) {
	e := &r.Env
	e.Hostname, e.OS, e.OSKernel = t.facts["Hostname"], t.facts["OsDescription"], t.facts["SoftwareReleaseVersion"]
	e.CPUModel, e.DriverVersion = t.facts["CpuDescription"], t.facts["NvDriverVersion"]
	e.Machine = e.Hostname
	if cores, err := strconv.ParseInt(t.facts["CpuCores"], 10, 64); err == nil && cores > 0 {
		e.CPUCount = &cores
	}
	e.CUDAVersion = cudaVersion(foreign.Number(t.facts["CudaDriverVersion"]))
	foreign.SetFact(r, "cpu.architecture", t.facts["CpuArchitecture"])
	if len(t.gpus) > 0 {
		e.GPUCount = new(int64(len(t.gpus)))
	}
	var names []string // of the devices that were used; of all, where none was
	for _, g := range t.gpus {
		if (len(devices) == 0 || slices.Contains(devices, g.id)) && !slices.Contains(names, g.name) {
			names = append(names, g.name)
		}
	}
	if len(names) == 1 {
		e.GPUName = names[0]
	}
}
