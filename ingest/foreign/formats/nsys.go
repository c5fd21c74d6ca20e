package formats

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

func nsysSQLite() foreign.Format {
	return foreign.Format{
		Name:  "nsys",
		About: "Nsight Systems: report exported to SQLite (nsys export, nsys stats)",
		Level: "a run is a profiled process; kernels, copies, CUDA calls and NVTX ranges are added up by name and device",
		Recognize: func(h *foreign.Head) bool {
			return strings.HasPrefix(string(h.Bytes), sqliteMagic) && h.Matches(nsysTables)
		},
		Read: readNsys,
	}
}

// nsysTables are tables of a report.
var nsysTables = regexp.MustCompile(`TARGET_INFO_SYSTEM_ENV|TARGET_INFO_SESSION_START|CUPTI_ACTIVITY_KIND_|META_DATA_EXPORT|EXPORT_META_DATA`)

// nsysReport is what is read of a report.
type nsysReport struct {
	*database
	out       *foreign.Output
	processes map[int64]*nsysProcess // by the upper bits of their global ids
	room      int                    // for names of operators
	noRoom    int
}

// nsysProcess is a profiled process.
type nsysProcess struct {
	id             int64
	ops            *ops
	name           string
	kernels, moved *int64 // time of kernels; of copies and sets
}

func readNsys(in *foreign.Input, out *foreign.Output) error {
	db, err := openDatabase(in)
	if err != nil {
		return err
	}
	defer db.close()
	n := &nsysReport{database: db, out: out, processes: map[int64]*nsysProcess{}, room: maxNames}
	var env nsysTarget
	n.try("TARGET_INFO", func() error { return env.read(n) })
	for _, s := range n.sources() {
		n.try(s.table, func() error { return n.addUp(s) })
	}
	if n.noRoom > 0 {
		out.LeaveOut("calls of operators after the first 64 MiB of names", n.noRoom)
	}
	if len(n.processes) == 0 {
		out.Refuse("CUPTI_ACTIVITY_KIND_KERNEL", fmt.Errorf("no process has a kernel, copy, CUDA call or NVTX range"))
		return nil
	}
	n.try("PROCESSES", n.nameProcesses)
	return n.runs(&env)
}

// try refuses a table that cannot be read, and continues with the others.
func (n *nsysReport) try(table string, f func() error) {
	if err := f(); err != nil {
		n.out.Refuse(table, err)
	}
}

// process gives the process of a global id of a process or a thread; nil if there is no room for more.
func (n *nsysReport) process(global int64) *nsysProcess {
	const threadBits = 24
	id := global >> threadBits
	p := n.processes[id]
	if p == nil && n.room >= 0 {
		p = &nsysProcess{id: id, ops: newOps()}
		n.processes[id] = p
		n.room -= perName
	}
	return p
}

// nameProcesses finds the names of the processes: their executables'.
func (n *nsysReport) nameProcesses() error {
	if !n.has("PROCESSES", "globalPid", "name") {
		return nil
	}
	return n.each(`SELECT CAST(globalPid AS INTEGER), CAST(substr(name, 1, 4096) AS BLOB) FROM PROCESSES`, func(row []any) error {
		global, _ := row[0].(int64)
		if p := n.processes[global>>24]; p != nil && global != 0 && p.name == "" {
			p.name = path.Base(text(row[1]))
		}
		return nil
	})
}

func (n *nsysReport) runs(env *nsysTarget) error {
	processes := make([]*nsysProcess, 0, len(n.processes))
	for _, p := range n.processes {
		processes = append(processes, p)
	}
	slices.SortFunc(processes, func(a, b *nsysProcess) int { return int(min(max(a.id-b.id, -1), 1)) })
	same := map[string]int{}
	for _, p := range processes {
		if p.name == "" || p.name == "." || p.name == "/" {
			p.name = env.command
		}
		p.name = env.script(p.name)
		same[p.name]++
	}
	seen := map[string]int{}
	for _, p := range processes {
		r := p.run(env)
		if same[p.name] > 1 { // the report distinguishes them by ids that mean nothing elsewhere
			foreign.SetAxis(&r, "process", strconv.Itoa(seen[p.name]))
			seen[p.name]++
		}
		env.set(&r, p.devices())
		noKernels(n.out, &r, p.kernels != nil)
		if err := n.out.Run(fmt.Sprintf("process %d", p.id&(1<<24-1)), r); err != nil {
			return err
		}
	}
	return nil
}

// devices are those that the operators of a process ran on.
func (p *nsysProcess) devices() []int64 {
	var list []int64
	for _, t := range p.ops.all {
		number, ok := strings.CutPrefix(t.device, "cuda:")
		id, err := strconv.ParseInt(number, 10, 64)
		if ok && err == nil && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

func (p *nsysProcess) run(env *nsysTarget) schema.Run {
	r := schema.Run{Purpose: schema.PurposeProfile, Benchmark: p.name, Backend: "cuda", Ops: p.ops.list(0)}
	addDeviceTimes(&r, p.kernels, p.moved)
	if env.epoch > 0 {
		foreign.SetStart(&r, time.Unix(0, env.epoch), schema.TimeFile)
	}
	return r
}
