package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
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
	j := in.JSON()
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
			return eachElement(j, r.out, func(where string, b *pytestResult) error { return b.yield(r.header.run(r.in), where, r.out) })
		case r.known:
			return j.Skip()
		}
		return r.out.RefuseMismatch(r.header.member(j, name))
	})
}

// pytestHeader has the members that apply to all benchmarks of a file. Some follow the benchmarks.
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
	return decodeMember(j, name, map[string]any{"machine_info": &h.machine, "commit_info": &h.commit, "datetime": &h.datetime, "version": &h.version})
}

// run is a run with the values that all benchmarks of a file share.
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
		in.SetStart(&r, text, foreign.ISO[0])
	}
	return r
}

// pytestResult is a benchmark of a file.
type pytestResult struct {
	Group    foreign.Text   `json:"group"`
	Name     string         `json:"name"`
	FullName string         `json:"fullname"`
	Params   jsontext.Value `json:"params"`
	ID       foreign.Text   `json:"param"` // what pytest calls the values of the parameters together
	Extra    jsontext.Value `json:"extra_info"`
	Options  struct {
		DisableGC foreign.Text `json:"disable_gc"`
		Timer     foreign.Text `json:"timer"`
		Warmup    foreign.Text `json:"warmup"`
	} `json:"options"`
	Stats struct {
		Data       jsontext.Value `json:"data"`
		Min        foreign.Number `json:"min"`
		Max        foreign.Number `json:"max"`
		Mean       foreign.Number `json:"mean"`
		StdDev     foreign.Number `json:"stddev"`
		Median     foreign.Number `json:"median"`
		Q1         foreign.Number `json:"q1"`
		Q3         foreign.Number `json:"q3"`
		Rounds     foreign.Number `json:"rounds"`
		Iterations foreign.Number `json:"iterations"`
	} `json:"stats"`
}

// yield yields the run of a benchmark. r has the values that all benchmarks share.
func (b *pytestResult) yield(r schema.Run, where string, out *foreign.Output) error {
	name := b.FullName
	if name == "" {
		name = b.Name
	}
	if name == "" {
		out.Refuse(where, fmt.Errorf("a benchmark without a name"))
		return nil
	}
	r.Suite = string(b.Group)
	r.Benchmark = name
	if b.ID != "" {
		r.Benchmark = strings.TrimSuffix(name, "["+string(b.ID)+"]")
	}
	if err := b.setParams(&r); err != nil {
		out.Refuse(where+"/params", err)
		return nil
	}
	b.setApplied(&r)
	b.setTags(&r)
	latency := b.latency(&r, out)
	if timer := string(b.Options.Timer); timer != "" {
		latency.Clock = timer[strings.LastIndex(timer, ".")+1:]
	}
	if n := b.Stats.Iterations.Int64(); n != nil && *n > 0 {
		latency.IterationsPerSample = []int64{*n}
	}
	foreign.Add(&r, latency, "s")
	if len(r.Metrics) == 0 {
		out.Refuse(where+"/stats", fmt.Errorf("it has neither data nor a mean"))
		return nil
	}
	return out.Run(where, r)
}

// latency is the metric of the rounds, or of their aggregates if the file does not have all rounds.
func (b *pytestResult) latency(r *schema.Run, out *foreign.Output) schema.Metric {
	s := &b.Stats
	if s.Data.Kind() == jsontext.KindBeginArray {
		series, err := foreign.ReadSeries(s.Data, "s")
		if err == nil && series.Len() > 0 {
			return series.Metric("latency", schema.LevelIteration)
		}
		if err != nil {
			r.Warnings = append(r.Warnings, foreign.WarnAggregates)
			out.Note(fmt.Sprintf("only aggregates were read: the rounds are not all there: %v", err), 1)
		}
	}
	m := foreign.Aggregate("latency", "s", schema.Summary{
		Min: s.Min.Finite("s"), Max: s.Max.Finite("s"), Mean: s.Mean.Finite("s"), StdDev: s.StdDev.Finite("s"),
		P25: s.Q1.Finite("s"), P50: s.Median.Finite("s"), P75: s.Q3.Finite("s"),
	})
	if m.Summary != (schema.Summary{}) {
		m.Summary.N, m.Level = s.Rounds.Int64(), schema.LevelIteration
	}
	return m
}

// isJoined reports whether an id is the words of all parameters, in any order: who writes a file anew may sort its members.
func isJoined(id string, words []string) bool {
	const maxWords = 8
	if len(words) == 1 || len(words) > maxWords {
		return id == strings.Join(words, "-")
	}
	for i, word := range words {
		rest, ok := strings.CutPrefix(id, word+"-")
		if ok && isJoined(rest, slices.Delete(slices.Clone(words), i, i+1)) {
			return true
		}
	}
	return false
}

// setParams sets the parameters of a test. If they do not determine the id of the test, as for a test with its own ids,
// the id is one more parameter, because pytest distinguishes two tests by it.
func (b *pytestResult) setParams(r *schema.Run) error {
	var params []jsonMember
	if b.Params.Kind() == jsontext.KindBeginObject {
		var err error
		if params, err = jsonMembersOf(b.Params); err != nil {
			return err
		}
	}
	parts := strings.Split(string(b.ID), "-")
	if len(params) == 1 {
		parts = []string{string(b.ID)}
	}
	words, values := make([]string, len(params)), make([]param, 0, len(params))
	for i, p := range params {
		text := pytestText(p.value)
		words[i] = pytestWord(p.value)
		if strings.HasPrefix(text, "UNSERIALIZABLE[") { // a repr, which may be another one every time
			if text = ""; len(parts) == len(params) {
				text = parts[i]
			}
			words[i] = text
		}
		if text != "" {
			values = append(values, param{p.name, text})
		}
	}
	ambiguous := !setParams(r, values) // bs and batch_size
	escaped := make([]string, len(words))
	for i, word := range words {
		escaped[i] = pytestEscaped(word)
	}
	if id := string(b.ID); id != "" && (ambiguous || !isJoined(id, words) && !isJoined(id, escaped)) {
		foreign.SetAxis(r, "id", id)
	}
	return nil
}

// pytestText is a parameter as a test writes it.
func pytestText(value jsontext.Value) string {
	if value.Kind() == jsontext.KindNull {
		return "None"
	}
	return foreign.TextOf(value)
}

// pytestWord is what pytest makes of a parameter in the id of a test; empty for what it only numbers.
func pytestWord(value jsontext.Value) string {
	switch value.Kind() {
	case jsontext.KindTrue:
		return "True"
	case jsontext.KindFalse:
		return "False"
	case jsontext.KindNumber:
		return string(value)
	case jsontext.KindString, jsontext.KindNull:
		return pytestText(value)
	}
	return ""
}

// pytestEscaped is a word as Python's codec unicode_escape writes it, which pytest makes ids with unless it is told not to.
func pytestEscaped(word string) string {
	var b strings.Builder
	for _, r := range word {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r >= ' ' && r < 0x7f:
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// setApplied sets the options of the rounds.
func (b *pytestResult) setApplied(r *schema.Run) {
	for name, text := range map[string]foreign.Text{"disable_gc": b.Options.DisableGC, "warmup": b.Options.Warmup} {
		if text != "" {
			foreign.Put(&r.Applied, name, string(text))
		}
	}
}

// maxTagLength limits the texts in extra_info: longer ones may be a prompt or a log.
const maxTagLength = 64

// setTags keeps the values of extra_info that are numbers or short words as tags.
func (b *pytestResult) setTags(r *schema.Run) {
	if b.Extra.Kind() != jsontext.KindBeginObject {
		return
	}
	extra, err := jsonMembersOf(b.Extra)
	if err != nil {
		return
	}
	for _, m := range extra {
		switch m.value.Kind() {
		case jsontext.KindBeginObject, jsontext.KindBeginArray, jsontext.KindNull:
			continue
		}
		if text := foreign.TextOf(m.value); text != "" && len(text) <= maxTagLength {
			foreign.Put(&r.Tags, m.name, text)
		}
	}
}
