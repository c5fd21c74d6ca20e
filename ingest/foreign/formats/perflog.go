package formats

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

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

func isPerflog(h *foreign.Head) bool {
	return h.Matches(perflogLine) || h.Matches(perflogHeader)
}

// perflogReader reads lines. The lines of one test case are consecutive, one for each variable.
type perflogReader struct {
	in      *foreign.Input
	out     *foreign.Output
	columns []string // of the last header; nil if there was none
	where   string
	key     string // of the test case that is being read
	run     schema.Run
	missing bool // a variable has no value
	job     string
	tags    []string // words of the lines that have no value
	begun   bool     // a line of the log was read
}

func readPerflog(in *foreign.Input, out *foreign.Output) error {
	p := &perflogReader{in: in, out: out}
	for number, line := range in.Lines() {
		if line.Err != nil {
			return line.Err
		}
		if strings.TrimSpace(line.Text) == "" {
			continue
		}
		if err := p.line(fmt.Sprintf("line %d", number), line.Text); err != nil {
			return err
		}
	}
	return p.flush()
}

func (p *perflogReader) line(where, text string) error {
	fields := strings.Split(text, "|")
	isLog := perflogLine.MatchString(text) || perflogHeader.MatchString(text)
	if !isLog && !p.begun {
		p.out.LeaveOut("lines of text before the log", 1)
		return nil
	}
	p.begun = true
	switch {
	case perflogLine.MatchString(text):
		return p.pattern(where, fields)
	case perflogHeader.MatchString(text):
		p.columns = nil
		if slices.ContainsFunc(fields, func(name string) bool { return strings.HasSuffix(name, "_value") }) {
			p.columns = fields
		}
		return p.flush()
	case p.columns != nil && len(fields) == len(p.columns):
		return p.row(where, fields)
	}
	p.out.Refuse(where, fmt.Errorf("%d fields without a header", len(fields)))
	return nil
}

// pattern reads a line for one variable: time|version|test|job|variable|unit and bounds in any order.
func (p *perflogReader) pattern(where string, fields []string) error {
	key := strings.Join(fields[:4], "|")
	if key != p.key || len(p.run.Metrics) >= maxVariables {
		if err := p.flush(); err != nil {
			return err
		}
		if !p.begin(where, key, fields) {
			return nil
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
func (p *perflogReader) begin(where, key string, fields []string) bool {
	m := perflogInfo.FindStringSubmatch(fields[2])
	if m == nil {
		p.out.Refuse(where, fmt.Errorf("%q is not a test", fields[2]))
		return false
	}
	p.key, p.where = key, where
	p.job = strings.TrimPrefix(fields[3], "jobid=")
	version, _, _ := strings.Cut(strings.TrimPrefix(fields[1], "reframe "), " ")
	p.out.Version(version)
	reframeName(&p.run, m[1])
	reframePlace(&p.run, m[2], m[3], m[4]+m[5])
	p.start(fields[0])
	return true
}

// start sets when a test case ended, because no log says when it began.
func (p *perflogReader) start(text string) {
	if at, source, err := p.in.Time(text, foreign.ISO...); err == nil {
		foreign.SetStart(&p.run, at, source)
	}
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
	run, where := p.run, p.where
	missing, job, tags := p.missing, p.job, p.tags
	p.run, p.where, p.key, p.missing, p.job, p.tags = schema.Run{}, "", "", false, "", nil
	if where == "" {
		return nil
	}
	if run.Status == "" && (missing || len(run.Metrics) == 0) {
		run.Status = schema.StatusError
	}
	if missing && run.Status.Failed() {
		run.Error = "a variable has no value"
	}
	if job != "null" && job != "None" {
		p.out.Also("reframe.jobid", job)
	}
	slices.Sort(tags)
	p.out.Also("reframe.tags", strings.Join(tags, ","))
	return p.out.Run(where, run)
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
	name := value["display_name"]
	if name == "" {
		name = value["name"]
	}
	if name == "" {
		m := perflogInfo.FindStringSubmatch(value["info"])
		if m == nil {
			p.where = ""
			p.out.Refuse(where, fmt.Errorf("a line without the name of a test"))
			return nil
		}
		name = m[1]
		reframePlace(&p.run, m[2], m[3], m[4]+m[5])
	}
	reframeName(&p.run, name)
	if value["system"] != "" {
		reframePlace(&p.run, value["system"], value["partition"], value["environ"])
	}
	for _, axis := range []string{"num_tasks", "num_tasks_per_node", "num_cpus_per_task", "num_gpus_per_node"} {
		foreign.SetParam(&p.run, axis, value[axis])
	}
	for _, at := range []string{value["job_submit_time"], value["job_completion_time_unix"]} {
		reframeStart(&p.run, foreign.Number(at))
	}
	if p.run.StartedAt.IsZero() {
		p.start(value["job_completion_time"])
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
