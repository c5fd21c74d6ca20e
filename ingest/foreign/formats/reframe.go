package formats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// reframe reads run reports of ReFrame 3 and 4, and performance logs.
var reframe = []foreign.Format{
	{
		Name: "reframe", About: "ReFrame run reports (--report-file)", Level: "a run is a test case, with one value of each variable",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("session_info.data_version") || h.Has("session_info.num_cases", "runs[].testcases")
		},
		Read: readReframe,
	},
	{
		Name: "reframe-perflog", Log: true, About: "ReFrame performance logs (perflogs/*.log)", Level: "a run is a test case, with one value of each variable",
		Recognize: func(h *foreign.Head) bool { return h.Matches(perflogLine) || h.Matches(perflogHeader) },
		Read:      readPerflog,
	},
}

// reframeCase is a test case of a report.
type reframeCase struct {
	Display    string                    `json:"display_name"` // the first of these names that is present is the name of the test
	Name       string                    `json:"name"`
	Unique     string                    `json:"unique_name"`
	System     string                    `json:"system"` // with the partition, up to version 3
	Partition  string                    `json:"partition"`
	Environ    string                    `json:"environ"`
	EnvironOld string                    `json:"environment"`
	Result     string                    `json:"result"`
	FailPhase  string                    `json:"fail_phase"`
	FailReason string                    `json:"fail_reason"`
	RunIndex   foreign.Number            `json:"run_index" run:"RepeatIndex"`
	Submitted  foreign.Number            `json:"job_submit_time"` // s
	Completed  foreign.Number            `json:"job_completion_time_unix"`
	ExitCode   foreign.Number            `json:"job_exitcode" run:"ExitCode"`
	Nodes      []string                  `json:"job_nodelist"`
	NodesOld   []string                  `json:"nodelist"`
	Params     map[string]foreign.Text   `json:"check_params"`
	Tasks      foreign.Text              `json:"num_tasks"`
	PerNode    foreign.Text              `json:"num_tasks_per_node"`
	CPUs       foreign.Text              `json:"num_cpus_per_task"`
	GPUs       foreign.Text              `json:"num_gpus_per_node"`
	Values     map[string]jsontext.Value `json:"perfvalues"` // [value, reference, lower, upper, unit, result]
	Variables  []reframeVariable         `json:"perfvars"`   // up to version 3
	Compile    foreign.Number            `json:"time_compile"`
	Setup      foreign.Number            `json:"time_setup"`
	Run        foreign.Number            `json:"time_run"`
}

// reframeVariable is a value with its bounds.
type reframeVariable struct {
	Name  string         `json:"name"`
	Value foreign.Number `json:"value"`
	Lower foreign.Text   `json:"thres_lower"`
	Upper foreign.Text   `json:"thres_upper"`
	Unit  string         `json:"unit"`
}

// reframeSession has the values that apply to all test cases of a report.
type reframeSession struct {
	Version string         `json:"version"`
	Data    foreign.Text   `json:"data_version"`
	Host    string         `json:"hostname"`
	Started foreign.Number `json:"time_start_unix"`
}

func readReframe(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	var session reframeSession
	return fields{
		"session_info": func() error {
			err := j.Decode(&session)
			out.Version(strings.TrimSpace(session.Version + " data " + string(session.Data)))
			return err
		},
		"runs": func() error {
			return j.Elements(func(index int) error {
				return fields{"testcases": array(j, out, func(where string, c *reframeCase) error {
					return c.read(where, out, &session, index)
				})}.read(j, out)
			})
		},
	}.read(j, out)
}

// read yields the run of a test case.
func (c *reframeCase) read(where string, out *foreign.Output, session *reframeSession, index int) error {
	variables, err := c.variables(where + "/perfvalues")
	if err != nil {
		return err
	}
	r := c.run(session)
	r.RepeatIndex = cmp.Or(r.RepeatIndex, new(int64(index)))
	c.outcome(&r)
	for _, v := range variables {
		v.add(&r)
	}
	return out.RunWith(where, r, func(r *schema.Run) {
		if began := c.Submitted.Float64(); began == nil && c.Completed.Float64() != nil && r.Stages.Measure != nil && !r.StartedAt.IsZero() {
			foreign.SetStart(r, r.StartedAt.Add(-time.Duration(*r.Stages.Measure)), r.TimeSource) // the completion
		}
	})
}

// reframeParam matches a parameter in the name of a test: "StreamTest %size=64k %mode=a b".
var reframeParam = regexp.MustCompile(` %([^=\s]+)=`)

// reframeName gives a run the name of a test: the parameters in it are parameters.
func reframeName(r *schema.Run, name string) {
	at := reframeParam.FindAllStringSubmatchIndex(name, -1)
	if len(at) == 0 {
		r.Benchmark = name
		return
	}
	r.Benchmark = name[:at[0][0]]
	for i, m := range at {
		end := len(name)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		foreign.SetParam(r, name[m[2]:m[3]], name[m[1]:end])
	}
}

// reframeAxes are the parameters of the job of a test case.
var reframeAxes = []string{"num_tasks", "num_tasks_per_node", "num_cpus_per_task", "num_gpus_per_node"}

// run returns the run of a test case, without its outcome and its values.
func (c *reframeCase) run(session *reframeSession) schema.Run {
	var r schema.Run
	reframeName(&r, cmp.Or(c.Display, c.Name, c.Unique))
	for name, text := range c.Params {
		foreign.SetParam(&r, name, string(text))
	}
	system, partition, _ := strings.Cut(c.System, ":")
	reframePlace(&r, system, cmp.Or(c.Partition, partition), cmp.Or(c.Environ, c.EnvironOld))
	describe(&r, c)
	for i, text := range []foreign.Text{c.Tasks, c.PerNode, c.CPUs, c.GPUs} {
		foreign.SetParam(&r, reframeAxes[i], string(text))
	}
	switch nodes := append(slices.Clone(c.Nodes), c.NodesOld...); len(nodes) {
	case 0:
		r.Env.Hostname = session.Host
	case 1:
		r.Env.Hostname = nodes[0]
	}
	for _, at := range []foreign.Number{c.Submitted, c.Completed, session.Started} {
		reframeStart(&r, at)
	}
	r.Stages.Setup, r.Stages.Build, r.Stages.Measure = nanoseconds(c.Setup, "s"), nanoseconds(c.Compile, "s"), nanoseconds(c.Run, "s")
	return r
}

// reframeStart sets when a run began, in seconds since 1970, unless that is known.
func reframeStart(r *schema.Run, seconds foreign.Number) {
	const far = 1e11
	if v := seconds.Finite(""); v != nil && r.StartedAt.IsZero() && math.Abs(*v) < far {
		foreign.SetStart(r, time.UnixMicro(int64(math.Round(*v*1e6))), schema.TimeFile)
	}
}

// reframePlace sets where a test ran. The machine is the system that ReFrame knows; partition and environment are axes.
func reframePlace(r *schema.Run, system, partition, environ string) {
	r.Env.Machine = system
	foreign.SetParam(r, "partition", partition)
	foreign.SetParam(r, "environ", environ)
}

// reframeStages are the stages of the phases in which tests fail.
var reframeStages = map[string]schema.Stage{
	"startup": schema.StageSetup, "setup": schema.StageSetup, "compile": schema.StageBuild, "compile_wait": schema.StageBuild,
	"compile_complete": schema.StageBuild, "run": schema.StageMeasure, "run_wait": schema.StageMeasure, "run_complete": schema.StageMeasure,
	"sanity": schema.StageValidate, "performance": schema.StageValidate, "cleanup": schema.StageTeardown,
}

// warnExpectedFailure is the warning for a value that is out of its bounds, as the test expects.
const warnExpectedFailure = "expected_failure"

// outcome sets how a test case ended.
func (c *reframeCase) outcome(r *schema.Run) {
	reframeResult(r, c.Result)
	if !r.Status.Failed() {
		return
	}
	r.Stage, r.Error = reframeStages[c.FailPhase], c.FailReason
	if r.Stage == schema.StageValidate {
		r.ErrorKind = "validate"
	}
	if strings.Contains(c.FailReason, "timed out") || strings.Contains(c.FailReason, "timeout") {
		r.Status = schema.StatusTimeout
	}
}

// reframeResult sets the status from the word in the file.
func reframeResult(r *schema.Run, word string) {
	switch word {
	case "pass", "success":
		r.Status = schema.StatusOK
	case "xfail":
		r.Status, r.Warnings = schema.StatusOK, append(r.Warnings, warnExpectedFailure)
	case "skip", "skipped":
		r.Status = schema.StatusSkipped
	case "abort", "aborted":
		r.Status = schema.StatusCancelled
	default: // fail, failure, xpass
		r.Status = schema.StatusError
	}
}

// maxVariables is how many variables a test case may have.
const maxVariables = 10_000

// variables returns the values of a test case, under the names of the variables without the system before them.
func (c *reframeCase) variables(where string) ([]reframeVariable, error) {
	all := c.Variables
	for _, key := range slices.Sorted(maps.Keys(c.Values)) {
		var fields []foreign.Text
		if err := foreign.DecodeAt(where+"/"+key, c.Values[key], &fields); err != nil {
			return nil, err
		}
		fields = append(fields, make([]foreign.Text, 5)...)
		v := reframeVariable{
			Name: key[strings.LastIndexByte(key, ':')+1:], Value: foreign.Number(fields[0]), Lower: fields[2], Upper: fields[3], Unit: string(fields[4]),
		}
		if v.Value != "" && v.Value.Float64() == nil {
			return nil, refusal(where+"/"+key, "%q is not a number", fields[0])
		}
		all = append(all, v)
	}
	if len(all) > maxVariables {
		return nil, refusal(where, "%d variables, want at most %d", len(all), maxVariables)
	}
	return all, nil
}

// add adds the value of a variable. A test that failed earlier has none.
func (v *reframeVariable) add(r *schema.Run) {
	name := foreign.MetricName(v.Name)
	if v.Value == "" || name == "" || r.Metric(name) != nil {
		return
	}
	unit := reframeUnit(v.Unit)
	s, err := foreign.SeriesOf([]foreign.Number{v.Value}, unit)
	if err != nil {
		return // not a number
	}
	m := s.Metric(name, schema.LevelProcess)
	kind, known := schema.KindOfMetric(name)
	if _, _, isUnit := schema.StoredUnit(m.Unit); known && isUnit && kind.Unit != "" && kind.Unit != m.Unit {
		known = false // another quantity with that name
	}
	if !known {
		m.Better = v.better(m.Unit)
	}
	foreign.Add(r, m, unit)
}

// reframeUnit translates a unit to a known spelling, if there is one.
func reframeUnit(text string) string {
	text = strings.TrimSpace(text)
	for _, spelling := range []string{text, reframeUnits[strings.ToLower(text)]} {
		if _, _, known := schema.StoredUnit(spelling); known {
			return spelling
		}
	}
	return text
}

// reframeUnits are other spellings in lower case.
var reframeUnits = map[string]string{
	"sec": "s", "secs": "s", "second": "s", "seconds": "s", "usec": "us", "msec": "ms", "nsec": "ns", "gb/sec": "GB/s", "mb/sec": "MB/s", "kb/sec": "kB/s",
	"bytes/s": "B/s", "kbytes/s": "kB/s", "mbytes/s": "MB/s", "gbytes/s": "GB/s", "bytes/sec": "B/s", "kbytes/sec": "kB/s", "mbytes/sec": "MB/s", "gbytes/sec": "GB/s",
	"gb/s": "GB/s", "mb/s": "MB/s", "gflops": "Gflop/s", "gflop/s": "Gflop/s", "gflops/s": "Gflop/s", "tflops": "Tflop/s", "tflop/s": "Tflop/s",
	"percent": "%", "us": "us", "ms": "ms", "ns": "ns", "b/s": "B/s",
}

// better returns the direction: away from the bound if only one is set, otherwise the usual one of the unit.
func (v *reframeVariable) better(unit string) schema.Better {
	lower, upper := bound(v.Lower), bound(v.Upper)
	switch {
	case lower && !upper:
		return schema.BetterHigher
	case upper && !lower:
		return schema.BetterLower
	case unit == "ns" || unit == "mJ":
		return schema.BetterLower
	case unit == "B/s" || unit == "flop/s" || unit == "1/s":
		return schema.BetterHigher
	}
	return ""
}

func bound(text foreign.Text) bool { return text != "" && text != "null" && text != "None" }

// Sites choose the content of a performance log. Three layouts are known: columns that a header names; and, with or
// without a header, a line for each variable, whose fields are recognised by their form.
var (
	perflogHeader = regexp.MustCompile(`(?m)^(?:[a-zA-Z_#]+\|)*(?:job_completion_time|check_job_completion_time)\b.*\|`)
	perflogLine   = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT[^|\n]*\|reframe [^|\n]*\|[^|\n]*\|jobid=`)
	perflogInfo   = regexp.MustCompile(`^(.+?)(?: /[0-9a-f]{6,})? (?:@|on )([^\s:]+):([^\s+]+)(?:\+(\S+)| using (\S+))$`)
	perflogValue  = regexp.MustCompile(`^([\w.:/-]+)=([-+.\w]*)$`)
	perflogRef    = regexp.MustCompile(`^ref=.*\(l=([^,]*), u=([^)]*)\)$`)
	perflogTag    = regexp.MustCompile(`^[A-Za-z_][\w.+-]*$`)
	perflogPair   = regexp.MustCompile(`^([A-Za-z_]\w*)=(\S+)$`)
)

// perflogReader reads lines. The lines of one test case are consecutive, one for each variable.
type perflogReader struct {
	in      *foreign.Input
	out     *foreign.Output
	columns []string // of the last header; nil if there was none
	begun   bool     // a line of the log was read
	perflogCase
}

// perflogCase is the test case that is being read.
type perflogCase struct {
	where   string
	key     string
	run     schema.Run
	missing bool // a variable has no value
	job     string
	tags    []string // words of the lines that have no value
}

func readPerflog(in *foreign.Input, out *foreign.Output) error {
	p := &perflogReader{in: in, out: out}
	return eachLine(in, out, p.line, p.flush)
}

func (p *perflogReader) line(where, text string) error {
	fields := strings.Split(text, "|")
	isLine, isHeader := perflogLine.MatchString(text), perflogHeader.MatchString(text)
	switch {
	case strings.TrimSpace(text) == "":
		return nil
	case !isLine && !isHeader && !p.begun:
		p.out.LeaveOut("lines of text before the log", 1)
		return nil
	case isLine:
		p.begun = true
		return p.pattern(where, fields)
	case isHeader:
		p.begun = true
		p.columns = nil
		if slices.ContainsFunc(fields, func(name string) bool { return strings.HasSuffix(name, "_value") }) {
			p.columns = fields
		}
		return p.flush()
	case p.columns != nil && len(fields) == len(p.columns):
		return p.row(where, fields)
	}
	return refusal(where, "%d fields without a header", len(fields))
}

// pattern reads a line for one variable: time|version|test|job|variable|unit and bounds in any order.
func (p *perflogReader) pattern(where string, fields []string) error {
	key := strings.Join(fields[:4], "|")
	if key != p.key || len(p.run.Metrics) >= maxVariables {
		if err := p.flush(); err != nil {
			return err
		}
		if err := p.begin(where, key, fields); err != nil {
			return err
		}
	}
	var v reframeVariable
	for i, field := range fields[4:] {
		if m := perflogRef.FindStringSubmatch(field); m != nil {
			v.Lower, v.Upper = foreign.Text(m[1]), foreign.Text(m[2])
			continue
		}
		m := perflogValue.FindStringSubmatch(field)
		switch {
		case m != nil && v.Name == "":
			v.Name, v.Value = m[1], foreign.Number(m[2])
		case v.Name != "" && v.Unit == "" && i <= 3 && !strings.Contains(field, "="):
			v.Unit = field
		default:
			for _, word := range strings.Split(field, ",") {
				if pair := perflogPair.FindStringSubmatch(word); pair != nil {
					foreign.SetParam(&p.run, pair[1], pair[2])
				} else if word = strings.TrimSpace(word); perflogTag.MatchString(word) && !slices.Contains(p.tags, word) && len(p.tags) < maxVariables {
					p.tags = append(p.tags, word)
				}
			}
		}
	}
	p.add(where, v)
	return nil
}

// begin begins a test case at its first line.
func (p *perflogReader) begin(where, key string, fields []string) error {
	m := perflogInfo.FindStringSubmatch(fields[2])
	if m == nil {
		return refusal(where, "%q is not a test", fields[2])
	}
	p.key, p.where = key, where
	p.job = strings.TrimPrefix(fields[3], "jobid=")
	version, _, _ := strings.Cut(strings.TrimPrefix(fields[1], "reframe "), " ")
	p.out.Version(version)
	reframeName(&p.run, m[1])
	reframePlace(&p.run, m[2], m[3], m[4]+m[5])
	p.in.SetStart(&p.run, fields[0]) // the end: no log says when a test case began
	return nil
}

// add adds a variable. A name or a value of null is a test that failed.
func (p *perflogReader) add(where string, v reframeVariable) {
	if slices.Contains([]string{"", "null", "None"}, v.Name) || slices.Contains([]foreign.Number{"", "null", "None"}, v.Value) {
		p.missing = true
		return
	}
	if v.Value.Float64() == nil {
		p.out.Refuse(where, fmt.Errorf("%s: %q is not a number", v.Name, v.Value))
		return
	}
	v.add(&p.run)
}

// flush yields the test case that was read.
func (p *perflogReader) flush() error {
	c := p.perflogCase
	p.perflogCase = perflogCase{}
	if c.where == "" {
		return nil
	}
	if c.run.Status == "" && (c.missing || len(c.run.Metrics) == 0) {
		c.run.Status = schema.StatusError
	}
	if c.missing && c.run.Status.Failed() {
		c.run.Error = "a variable has no value"
	}
	if c.job != "null" && c.job != "None" {
		p.out.Also("reframe.jobid", c.job)
	}
	slices.Sort(c.tags)
	p.out.Also("reframe.tags", strings.Join(c.tags, ","))
	return p.out.Run(c.where, c.run)
}

// row reads a line of named columns: one test case.
func (p *perflogReader) row(where string, fields []string) error {
	if err := p.flush(); err != nil {
		return err
	}
	p.where = where
	value := map[string]string{}
	for i, name := range p.columns {
		name = strings.TrimPrefix(name, "check_")
		if text := fields[i]; text != "null" && text != "None" {
			value[name] = text
		}
	}
	p.job = value["jobid"]
	name := cmp.Or(value["display_name"], value["name"])
	if name == "" {
		m := perflogInfo.FindStringSubmatch(value["info"])
		if m == nil {
			p.where = ""
			return refusal(where, "a line without the name of a test")
		}
		name = m[1]
		reframePlace(&p.run, m[2], m[3], m[4]+m[5])
	}
	reframeName(&p.run, name)
	if value["system"] != "" {
		reframePlace(&p.run, value["system"], value["partition"], value["environ"])
	}
	for _, axis := range reframeAxes {
		foreign.SetParam(&p.run, axis, value[axis])
	}
	for _, at := range []string{value["job_submit_time"], value["job_completion_time_unix"]} {
		reframeStart(&p.run, foreign.Number(at))
	}
	if p.run.StartedAt.IsZero() {
		p.in.SetStart(&p.run, value["job_completion_time"])
	}
	p.run.ExitCode = foreign.Number(value["job_exitcode"]).Int64()
	if result, ok := value["result"]; ok {
		reframeResult(&p.run, result)
	}
	p.columnsOf(where, value)
	return p.flush()
}

// columnsOf takes the variables of a line of named columns: copy_value, copy_unit, copy_lower_thres.
func (p *perflogReader) columnsOf(where string, value map[string]string) {
	p.missing = true
	for _, column := range slices.Sorted(maps.Keys(value)) {
		name, ok := strings.CutSuffix(column, "_value")
		if !ok {
			continue
		}
		p.missing = false
		v := reframeVariable{
			Name: name, Value: foreign.Number(value[column]), Unit: value[name+"_unit"],
			Lower: foreign.Text(value[name+"_lower_thres"] + value[name+"_lower"]), Upper: foreign.Text(value[name+"_upper_thres"] + value[name+"_upper"]),
		}
		p.add(where, v)
	}
}
