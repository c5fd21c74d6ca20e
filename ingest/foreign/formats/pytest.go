package formats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

var pytestBenchmark = foreign.Format{
	Name:  "pytest-benchmark",
	About: "pytest-benchmark: JSON of --benchmark-json, --benchmark-save and --benchmark-autosave",
	Level: "a run is a benchmark of a pytest process, a sample is a round: the mean of its iterations",
	Recognize: func(h *foreign.Head) bool {
		return h.Has("machine_info", "commit_info", "benchmarks") || h.Has("benchmarks[].fullname", "benchmarks[].stats")
	},
	Read: readPytest,
}

func readPytest(in *foreign.Input, out *foreign.Output) error {
	return documents(in, out, func(h *pytestHeader, j *foreign.JSON, others func(fields) error) error {
		out.Version(string(h.Version))
		return others(fields{"benchmarks": array(j, out, func(where string, b *pytestResult) error {
			return b.yield(h.run(in), where, out)
		})})
	}, "machine_info", "commit_info", "datetime", "version", "neurolens_env")
}

// pytestHeader has the members that apply to all benchmarks of a file. Some follow the benchmarks.
type pytestHeader struct {
	Machine struct {
		Node           foreign.Text `json:"node" run:"Env.Machine,Env.Hostname"`
		Architecture   foreign.Text `json:"machine" fact:"architecture"`
		System         foreign.Text `json:"system"`
		Release        foreign.Text `json:"release" run:"Env.OSKernel"`
		Implementation foreign.Text `json:"python_implementation" fact:"python_implementation"`
		Compiler       foreign.Text `json:"python_compiler" fact:"python_compiler"`
		PythonVersion  foreign.Text `json:"python_version" run:"Env.PythonVersion"`
		CPU            struct {
			BrandRaw foreign.Text   `json:"brand_raw" run:"Env.CPUModel"`
			Brand    foreign.Text   `json:"brand" run:"Env.CPUModel"` // of versions before 3.4
			Count    foreign.Number `json:"count" run:"Env.CPUCount"`
		} `json:"cpu"`
	} `json:"machine_info"`
	Commit struct {
		ID      foreign.Text `json:"id"`
		Branch  foreign.Text `json:"branch"`
		Project foreign.Text `json:"project" fact:"project"`
		Dirty   *bool        `json:"dirty"`
	} `json:"commit_info"`
	Environment factRows     `json:"neurolens_env"` // of the plugin in the wheel of NeuroLens
	Datetime    foreign.Text `json:"datetime"`
	Version     foreign.Text `json:"version" fact:"source.version"`
}

// run returns a run with the values that all benchmarks of a file share.
func (h *pytestHeader) run(in *foreign.Input) (r schema.Run) {
	h.Environment.describe(&r) // it is what bench stores, so it wins
	describe(&r, h)
	r.Env.OS = cmp.Or(r.Env.OS, strings.ToLower(string(h.Machine.System)))
	if id := string(h.Commit.ID); id != "" && id != "unversioned" && id != "unknown" {
		r.Env.GitCommit, r.Env.GitDirty = id, h.Commit.Dirty
	}
	if branch := string(h.Commit.Branch); !strings.HasPrefix(branch, "(") { // (unknown), (detached head)
		r.Env.GitBranch = branch
	}
	// Versions before 5 write the time of UTC without a zone.
	for _, text := range []foreign.Text{h.Datetime, h.Datetime + "Z"} {
		in.SetStart(&r, string(text), foreign.ISO[0])
	}
	return r
}

// pytestResult is a benchmark of a file.
type pytestResult struct {
	Group    foreign.Text   `json:"group"`
	Name     string         `json:"name"`
	FullName string         `json:"fullname"`
	Params   jsontext.Value `json:"params"`
	ID       foreign.Text   `json:"param"` // the id of pytest for the values of all parameters
	Extra    jsontext.Value `json:"extra_info"`
	Options  struct {
		DisableGC foreign.Text `json:"disable_gc"`
		Timer     foreign.Text `json:"timer"`
		Warmup    foreign.Text `json:"warmup"`
	} `json:"options"`
	Stats struct {
		Data       jsontext.Value `json:"data"`
		Min        foreign.Number `json:"min" stat:"min"`
		Max        foreign.Number `json:"max" stat:"max"`
		Mean       foreign.Number `json:"mean" stat:"mean"`
		StdDev     foreign.Number `json:"stddev" stat:"stddev"`
		Median     foreign.Number `json:"median" stat:"median"`
		Q1         foreign.Number `json:"q1" stat:"q1"`
		Q3         foreign.Number `json:"q3" stat:"q3"`
		Rounds     foreign.Number `json:"rounds"`
		Iterations foreign.Number `json:"iterations"`
	} `json:"stats"`
}

// yield yields the run of a benchmark. r has the values that all benchmarks share.
func (b *pytestResult) yield(r schema.Run, where string, out *foreign.Output) error {
	r.Suite, r.Benchmark = string(b.Group), cmp.Or(b.FullName, b.Name)
	if r.Benchmark == "" {
		return refusal(where, "a benchmark without a name")
	}
	if b.ID != "" {
		r.Benchmark = strings.TrimSuffix(r.Benchmark, "["+string(b.ID)+"]")
	}
	if err := b.setParams(&r); err != nil {
		return refusal(where+"/params", "%w", err)
	}
	for name, text := range map[string]foreign.Text{"disable_gc": b.Options.DisableGC, "warmup": b.Options.Warmup} {
		if text != "" {
			foreign.Put(&r.Applied, name, string(text))
		}
	}
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
		return refusal(where+"/stats", "it has neither data nor a mean")
	}
	return out.Run(where, r)
}

// latency returns the metric of the rounds, or of their aggregates if the file does not have all rounds.
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
	m := foreign.Aggregate("latency", "s", summaryOf(*s, "s"))
	if m.Summary != (schema.Summary{}) {
		m.Summary.N, m.Level = s.Rounds.Int64(), schema.LevelIteration
	}
	return m
}

// isJoined reports whether an id consists of the words of all parameters, in any order: a program that rewrites a file may sort its
// members.
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
func (b *pytestResult) setParams(r *schema.Run) (err error) {
	var params []jsonMember
	if b.Params.Kind() == jsontext.KindBeginObject {
		if params, err = jsonMembersOf(b.Params); err != nil {
			return err
		}
	}
	parts := strings.Split(string(b.ID), "-")
	if len(params) == 1 {
		parts = []string{string(b.ID)}
	}
	words, escaped, values := make([]string, len(params)), make([]string, len(params)), make([]param, 0, len(params))
	for i, p := range params {
		text := pytestText(p.value)
		words[i] = pytestWord(p.value)
		if strings.HasPrefix(text, "UNSERIALIZABLE[") { // a repr, which may differ every time
			if text = ""; len(parts) == len(params) {
				text = parts[i]
			}
			words[i] = text
		}
		escaped[i] = pytestEscaped(words[i])
		if text != "" {
			values = append(values, param{p.name, text})
		}
	}
	ambiguous := !setParams(r, values) // bs and batch_size
	if id := string(b.ID); id != "" && (ambiguous || !isJoined(id, words) && !isJoined(id, escaped)) {
		foreign.SetAxis(r, "id", id)
	}
	return nil
}

// pytestText returns a parameter in the spelling of a test.
func pytestText(value jsontext.Value) string {
	if value.Kind() == jsontext.KindNull {
		return "None"
	}
	return foreign.TextOf(value)
}

// pytestWord returns the word for a parameter in the id of a test; empty for a value that pytest only numbers.
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

// pytestEscaped encodes a word with Python's codec unicode_escape, which pytest uses for ids by default.
func pytestEscaped(word string) string {
	var b strings.Builder
	for _, r := range strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(word) {
		switch {
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

// maxTagLength limits the texts in extra_info: longer ones may be a prompt or a log.
const maxTagLength = 64

// setTags keeps the values of extra_info that are numbers or short words as tags.
func (b *pytestResult) setTags(r *schema.Run) {
	if b.Extra.Kind() != jsontext.KindBeginObject {
		return
	}
	extra, _ := jsonMembersOf(b.Extra) // it was decoded already
	for _, m := range extra {
		if kind := m.value.Kind(); kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray {
			continue
		}
		if text := foreign.TextOf(m.value); text != "" && len(text) <= maxTagLength {
			foreign.Put(&r.Tags, m.name, text)
		}
	}
}
