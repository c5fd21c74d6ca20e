package formats

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
	"modernc.org/sqlite/vfs"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var nsysSQLite = foreign.Format{
	Name:  "nsys",
	About: "Nsight Systems: report exported to SQLite (nsys export, nsys stats)",
	Level: "a run is a profiled process; kernels, copies, CUDA calls and NVTX ranges are added up by name and device",
	Recognize: func(h *foreign.Head) bool {
		return strings.HasPrefix(string(h.Bytes), sqliteMagic) && h.Matches(nsysTables)
	},
	Read: readNsys,
}

// nsysTables are tables of a report.
var nsysTables = regexp.MustCompile(`TARGET_INFO_SYSTEM_ENV|TARGET_INFO_SESSION_START|CUPTI_ACTIVITY_KIND_|META_DATA_EXPORT|EXPORT_META_DATA`)

// nsysReport reads a report.
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

// process returns the process of a global id of a process or a thread; nil if there is no room for more.
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
	processes := slices.SortedFunc(maps.Values(n.processes), func(a, b *nsysProcess) int { return cmp.Compare(a.id, b.id) })
	same := map[string]int{}
	for _, p := range processes {
		if p.name == "" || p.name == "." || p.name == "/" {
			p.name = env.command
		}
		if strings.HasPrefix(p.name, "python") && len(env.scripts) > 0 { // for people, the script is the program
			p.name = env.scripts[0]
		}
		same[p.name]++
	}
	seen := map[string]int{}
	for _, p := range processes {
		r := schema.Run{Purpose: schema.PurposeProfile, Benchmark: p.name, Ops: p.ops.list(0)}
		if p.usedCUDA() {
			r.Backend = "cuda"
		}
		addDeviceTimes(&r, p.kernels, p.moved)
		if env.epoch > 0 {
			foreign.SetStart(&r, time.Unix(0, env.epoch), schema.TimeFile)
		}
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

// usedCUDA reports whether the process called CUDA. A trace of ranges alone says nothing about a backend.
func (p *nsysProcess) usedCUDA() bool {
	for _, t := range p.ops.all {
		if t.kind != "nvtx" {
			return true
		}
	}
	return false
}

// devices returns the devices on which the operators of a process ran.
func (p *nsysProcess) devices() []int64 {
	var list []int64
	for _, t := range p.ops.all {
		number, _ := strings.CutPrefix(t.device, "cuda:")
		if id, err := strconv.ParseInt(number, 10, 64); err == nil && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// A nsysSource is a table of events that are added up.
type nsysSource struct {
	table  string
	kind   string // of the operators
	name   string // SQL: the id of the name in StringIds, or the name itself
	device string // SQL: the number of the device, NULL if the processor did it

	bytes string // SQL: how much was moved
	where string // SQL condition on its rows
	label func(name string) string
}

// sources returns the tables of events that a report has. A table exists only if such events occurred, and columns differ between
// versions.
func (n *nsysReport) sources() []nsysSource {
	const kernel, graph, copies, sets, calls, ranges = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
		"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"
	return []nsysSource{
		{table: kernel, kind: "kernel", name: n.first(kernel, "demangledName", "shortName", "mangledName")},
		{table: graph, kind: "graph", name: n.first(graph, "graphId"), label: func(s string) string { return "CUDA graph " + s }},
		{table: copies, kind: "memcpy", name: n.first(copies, "copyKind"), bytes: n.first(copies, "bytes"), label: copyName},
		{table: sets, kind: "memset", name: "0", bytes: n.first(sets, "bytes"), label: func(string) string { return "[CUDA memset]" }},
		{table: calls, kind: "cuda_api", name: n.first(calls, "nameId"), device: "NULL", label: callName},
		{
			table: ranges, kind: "nvtx", device: "NULL", where: ` WHERE "end" IS NOT NULL`,
			name: "coalesce(" + n.first(ranges, "text") + ", " + n.first(ranges, "textId") + ")",
		},
	}
}

var copyKinds = map[string]string{
	"1": "HtoD", "2": "DtoH", "3": "HtoA", "4": "AtoH", "5": "AtoA", "6": "AtoD", "7": "DtoA", "8": "DtoD", "9": "HtoH", "10": "PtoP",
	"11": "Unified HtoD", "12": "Unified DtoH", "13": "Unified DtoD",
}

func copyName(kind string) string {
	if name, ok := copyKinds[kind]; ok {
		return "[CUDA memcpy " + name + "]"
	}
	return "[CUDA memcpy of kind " + kind + "]"
}

var callVersion = regexp.MustCompile(`_v[0-9]{4,5}$`)

// callName returns the name of a function without the version of its interface: cudaLaunchKernel_v7000.
func callName(name string) string { return callVersion.ReplaceAllString(name, "") }

// nsysEvent is a row of a table of events.
type nsysEvent struct {
	start, end, global, bytes int64
	device                    string
	nameID                    int64
	name                      string // where it is no id
}

// addUp adds up the events of a table.
func (n *nsysReport) addUp(s nsysSource) error {
	if !n.has(s.table, "start", "end") {
		return nil
	}
	s.device, s.bytes = cmp.Or(s.device, n.first(s.table, "deviceId")), cmp.Or(s.bytes, "NULL")
	query := fmt.Sprintf(`SELECT "start", "end", %s, %s, %s, CASE typeof(%s) WHEN 'text' THEN CAST(substr(%s, 1, 65536) AS BLOB) ELSE %s END FROM %s%s`,
		n.first(s.table, "globalPid", "globalTid"), s.device, s.bytes, s.name, s.name, s.name, s.table, s.where)
	names := map[int64][]*opTotal{} // totals whose names are not known yet
	row := 0
	err := n.each(query, func(values []any) error {
		row++
		e, err := eventOf(values)
		if err == nil {
			err = n.add(&s, &e, names)
		}
		if err != nil {
			n.out.Refuse(fmt.Sprintf("%s, row %d", s.table, row), err)
		}
		return nil
	})
	if s.label == nil || s.kind == "cuda_api" {
		return cmp.Or(err, n.lookUp(&s, names))
	}
	for id, totals := range names {
		for _, t := range totals {
			t.name = s.label(strconv.FormatInt(id, 10))
		}
	}
	return err
}

// eventOf makes an event of a row.
func eventOf(values []any) (nsysEvent, error) {
	var e nsysEvent
	var ok [2]bool
	e.start, ok[0] = values[0].(int64)
	e.end, ok[1] = values[1].(int64)
	if !ok[0] || !ok[1] || e.end < e.start || e.end-e.start < 0 {
		return e, fmt.Errorf("its time is from %s to %s", shown(values[0]), shown(values[1]))
	}
	e.global, _ = values[2].(int64)
	e.device = "cpu"
	if id, ok := values[3].(int64); ok {
		e.device = "cuda:" + strconv.FormatInt(id, 10)
	}
	e.bytes, _ = values[4].(int64)
	switch name := values[5].(type) {
	case int64:
		e.nameID = name
	case []byte:
		e.name = text(name)
	default:
		return e, fmt.Errorf("its name is %s", shown(name))
	}
	return e, nil
}

// shown returns a value for an error.
func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "NULL"
	case []byte:
		return strconv.Quote(foreign.Brief(string(v)))
	case string:
		return strconv.Quote(foreign.Brief(v))
	}
	return fmt.Sprint(value)
}

// add adds an event to the totals of its process.
func (n *nsysReport) add(s *nsysSource, e *nsysEvent, names map[int64][]*opTotal) error {
	p := n.process(e.global)
	if p == nil {
		n.noRoom++
		return nil
	}
	key := fmt.Appendf(nil, "%s\x00%s\x00%d\x00%s", s.kind, e.device, e.nameID, e.name)
	isNew := false
	p.ops.room = n.room
	total := p.ops.find(key, func() opKey {
		isNew = true
		return opKey{name: e.name, kind: s.kind, device: e.device}
	})
	n.room = p.ops.room
	if total == nil {
		n.noRoom++
		return nil
	}
	if isNew && e.name == "" {
		names[e.nameID] = append(names[e.nameID], total)
	}
	if s.bytes != "NULL" {
		total.bytes = plus(total.bytes, max(e.bytes, 0))
	}
	took := e.end - e.start
	switch s.kind {
	case "kernel", "graph":
		p.kernels = plus(p.kernels, took)
	case "memcpy", "memset":
		p.moved = plus(p.moved, took)
	}
	return total.add(e.start, took, 1)
}

// lookUp names the totals by their ids in StringIds.
func (n *nsysReport) lookUp(s *nsysSource, names map[int64][]*opTotal) error {
	if len(names) == 0 {
		return nil
	}
	if !n.has("StringIds", "id", "value") {
		return fmt.Errorf("the table StringIds, with the names, is missing")
	}
	err := n.each(`SELECT id, CAST(substr(value, 1, 65536) AS BLOB) FROM StringIds`, func(row []any) error {
		id, _ := row[0].(int64)
		for _, t := range names[id] {
			t.name = text(row[1])
			if s.label != nil {
				t.name = s.label(t.name)
			}
			n.room -= len(t.name)
		}
		delete(names, id)
		return nil
	})
	for id, totals := range names {
		for _, t := range totals {
			t.name = fmt.Sprintf("name %d", id)
		}
		n.out.Refuse("StringIds", fmt.Errorf("%s has the name %d, which is not in the table", s.table, id))
	}
	return err
}

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

// read reads the tables about the machine and the command. A report has them or not, and versions call them differently.
func (t *nsysTarget) read(n *nsysReport) error {
	t.facts, t.command = map[string]string{}, "nsys"
	nameAndValue := []string{"name", "value"}
	for _, q := range []struct {
		tables, columns []string
		query           string // FROM the table, with the id of a GPU in place of GPU
		row             func(row []any)
	}{
		{
			[]string{"META_DATA_EXPORT", "EXPORT_META_DATA"},
			nameAndValue,
			`SELECT CAST(substr(value, 1, 200) AS BLOB) FROM TABLE WHERE name = 'EXPORT_PRODUCT_VERSION'`,
			func(row []any) { n.out.Version(text(row[0])) },
		},
		{
			[]string{"TARGET_INFO_SYSTEM_ENV"},
			nameAndValue,
			`SELECT CAST(name AS BLOB), CAST(substr(value, 1, 500) AS BLOB) FROM TABLE WHERE name IN ('` + strings.Join(targetFacts, "', '") + `')`,
			func(row []any) { t.facts[text(row[0])] = cmp.Or(t.facts[text(row[0])], text(row[1])) },
		},
		{
			[]string{"TARGET_INFO_SESSION_START_TIME"},
			[]string{"utcEpochNs"},
			`SELECT utcEpochNs FROM TABLE LIMIT 1`,
			func(row []any) { t.epoch, _ = row[0].(int64) },
		},
		{ // all GPUs of the machine, not only those that were used; until 2021 in the second table
			[]string{"TARGET_INFO_GPU", "TARGET_INFO_CUDA_GPU"},
			[]string{"name"},
			`SELECT GPU, CAST(substr(name, 1, 200) AS BLOB) FROM TABLE LIMIT 1024`,
			func(row []any) {
				id, ok := row[0].(int64)
				if !ok {
					id = int64(len(t.gpus))
				}
				t.gpus = append(t.gpus, nsysGPU{id, text(row[1])})
			},
		},
		{ // the launched program, and the Python scripts among its arguments; other arguments are not kept
			[]string{"META_DATA_CAPTURE"},
			nameAndValue,
			`SELECT CAST(name AS BLOB), CAST(substr(value, 1, 4096) AS BLOB) FROM TABLE WHERE name = 'PROCESS_0:COMMAND'
			OR name LIKE 'PROCESS\_0:ARGUMENT\_%' ESCAPE '\' AND value LIKE '%.py' LIMIT 100`,
			func(row []any) {
				if base := path.Base(text(row[1])); text(row[0]) == "PROCESS_0:COMMAND" {
					t.command = base
				} else {
					t.scripts = append(t.scripts, base)
				}
			},
		},
	} {
		i := slices.IndexFunc(q.tables, func(table string) bool { return n.has(table, q.columns...) })
		if i < 0 {
			continue
		}
		query := strings.NewReplacer("TABLE", q.tables[i], "GPU", n.first(q.tables[i], "id", "cuDevice", "cudaId")).Replace(q.query)
		err := n.each(query, func(row []any) error {
			q.row(row)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// set sets the environment of a run that used some devices.
func (t *nsysTarget) set(r *schema.Run, devices []int64) {
	e := &r.Env
	e.Hostname, e.OS, e.OSKernel = t.facts["Hostname"], t.facts["OsDescription"], t.facts["SoftwareReleaseVersion"]
	e.CPUModel = t.facts["CpuDescription"]
	if version := t.facts["NvDriverVersion"]; version != "0" { // a machine without a driver
		e.DriverVersion = version
	}
	e.Machine, e.CUDAVersion = e.Hostname, cudaVersion(foreign.Number(t.facts["CudaDriverVersion"]))
	if cores, err := strconv.ParseInt(t.facts["CpuCores"], 10, 64); err == nil && cores > 0 {
		e.CPUCount = &cores
	}
	foreign.SetFact(r, "cpu.architecture", t.facts["CpuArchitecture"])
	if len(t.gpus) > 0 {
		e.GPUCount = new(int64(len(t.gpus)))
	}
	var names []string // of the used devices; of all devices if none was used
	for _, g := range t.gpus {
		if (len(devices) == 0 || slices.Contains(devices, g.id)) && !slices.Contains(names, g.name) {
			names = append(names, g.name)
		}
	}
	if len(names) == 1 {
		e.GPUName = names[0]
	}
}

// maxCopied limits the temporary copy of a database that cannot be read in place, because it is compressed or comes from
// a pipe.
const maxCopied = 4 << 30

// sqliteMagic begins a database.
const sqliteMagic = "SQLite format 3\x00"

// database is a SQLite database that is only read.
type database struct {
	db     *sql.DB
	size   int64
	tables map[string][]string // columns that hold values, by table; neither views nor virtual tables
	closed []func() error      // functions for Close, called in reverse order
}

// openDatabase opens the database of an input.
func openDatabase(in *foreign.Input) (*database, error) {
	d := &database{}
	err := d.open(in)
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *database) close() error {
	var errs []error
	for _, f := range slices.Backward(d.closed) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

func (d *database) open(in *foreign.Input) error {
	file := one{in.Folder, in.Path}
	if !file.readable() {
		var err error
		if file, err = d.copied(in.Text()); err != nil {
			return err
		}
	}
	info, err := fs.Stat(file, one{}.name())
	if err != nil {
		return err
	}
	d.size = info.Size()
	name, system, err := vfs.New(file)
	if err != nil {
		return err
	}
	d.closed = append(d.closed, system.Close)
	// The schema comes from the file, so SQLite must not trust the functions in it, and checks the sizes of cells.
	pragmas := "&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=temp_store(2)&_query_only=1"
	db, err := sql.Open("sqlite", "file:"+one{}.name()+"?vfs="+name+"&mode=ro&immutable=1"+pragmas)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	d.db, d.closed = db, append(d.closed, db.Close)
	return d.describe()
}

// copied returns a file with the content, which is removed with the database.
func (d *database) copied(content io.Reader) (one, error) {
	dir, err := os.MkdirTemp("", "neurolens-ingest-")
	if err != nil {
		return one{}, err
	}
	d.closed = append(d.closed, func() error { return os.RemoveAll(dir) })
	f, err := os.Create(dir + "/copy")
	if err != nil {
		return one{}, err
	}
	n, err := io.Copy(f, io.LimitReader(content, maxCopied+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return one{}, fmt.Errorf("copying the database: %w", err)
	}
	if n > maxCopied {
		return one{}, fmt.Errorf("a database of more than %d GiB that is compressed or a stream: name the uncompressed file", maxCopied>>30)
	}
	return one{os.DirFS(dir), "copy"}, nil
}

// describe finds the tables and their columns. A table that computes its values is left out, because the author of the
// file could make it compute without end.
func (d *database) describe() error {
	d.tables = map[string][]string{}
	return d.each(`SELECT CAST(m.name AS BLOB), CAST(c.name AS BLOB) FROM sqlite_master m, pragma_table_xinfo(m.name) c
		WHERE m.type = 'table' AND m.rootpage > 0 AND c.hidden = 0`, func(row []any) error {
		table := text(row[0])
		d.tables[table] = append(d.tables[table], text(row[1]))
		return nil
	})
}

// has reports whether there is a table with all of the columns.
func (d *database) has(table string, columns ...string) bool {
	known, ok := d.tables[table]
	return ok && containsAll(known, columns)
}

// first returns the first of the columns that a table has, quoted for SQL; NULL if it has none of them.
func (d *database) first(table string, columns ...string) string {
	for _, c := range columns {
		if slices.Contains(d.tables[table], c) {
			return `"` + c + `"`
		}
	}
	return "NULL"
}

// each gives the rows of a query: integers, and the bytes of texts that are cast to BLOB.
func (d *database) each(query string, f func(row []any) error) error {
	rows, err := d.db.QueryContext(context.Background(), query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	row, to := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		to[i] = &row[i]
	}
	for n := int64(0); rows.Next(); n++ {
		if n > d.size { // a row takes more than a byte; in a damaged file, pages can be read many times
			return fmt.Errorf("it has more rows than fit into the file")
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// text returns the text of a value that was cast to BLOB. Invalid UTF-8 is replaced.
func text(value any) string {
	switch v := value.(type) {
	case []byte:
		return strings.ToValidUTF8(string(v), "�")
	case string:
		return strings.ToValidUTF8(v, "�")
	}
	return ""
}

// one is a file system with one file, which has the same name in every folder.
type one struct {
	folder fs.FS
	path   string
}

func (one) name() string { return "database" }

// Open opens the file.
func (o one) Open(name string) (fs.File, error) {
	if name != o.name() || o.folder == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return o.folder.Open(o.path)
}

// readable reports whether the file is a database that can be read in place.
func (o one) readable() bool {
	f, err := o.Open(o.name())
	if err != nil {
		return false
	}
	defer f.Close()
	_, seeks := f.(io.Seeker)
	start := make([]byte, len(sqliteMagic))
	_, err = io.ReadFull(f, start)
	return err == nil && seeks && string(start) == sqliteMagic
}
