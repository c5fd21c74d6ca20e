package formats

import (
	"fmt"
	"strconv"

	"github.com/neurolens/neurolens/ingest/foreign"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// A nsysSource is a table of events that are added up.
type nsysSource struct {
	table  string
	kind   string // of the operators
	name   string // SQL: the id of the name in StringIds, or the name itself
	device string // SQL: the number of the device, NULL if the processor did it
	global string // SQL: the global id of the process or a thread of it
	bytes  string // SQL: how much was moved
	where  string // SQL: of which rows
	label  func(name string) string
}

// sources are the tables of events that a report has. A table is there only if there were such events, and columns
// come and go with versions.
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

// callName is the name of a function without the version of its interface: cudaLaunchKernel_v7000.
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
	if s.device == "" {
		s.device = n.first(s.table, "deviceId")
	}
	s.global = n.first(s.table, "globalPid", "globalTid")
	if s.bytes == "" {
		s.bytes = "NULL"
	}
	query := fmt.Sprintf(`SELECT "start", "end", %s, %s, %s, CASE typeof(%s) WHEN 'text' THEN CAST(substr(%s, 1, 65536) AS BLOB) ELSE %s END FROM %s%s`,
		s.global, s.device, s.bytes, s.name, s.name, s.name, s.table, s.where)
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
	if s.label != nil && s.kind != "cuda_api" {
		for id, totals := range names {
			for _, t := range totals {
				t.name = s.label(strconv.FormatInt(id, 10))
			}
		}
		return err
	}
	if named := n.lookUp(&s, names); err == nil {
		err = named
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

// shown is a value for an error.
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

// lookUp gives totals the names that their ids stand for.
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
