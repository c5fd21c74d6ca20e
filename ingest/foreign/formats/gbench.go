package formats

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

func googleBenchmark() foreign.Format {
	return foreign.Format{
		Name:  "google-benchmark",
		About: "Google Benchmark: JSON of --benchmark_out or --benchmark_format=json",
		Level: "a run is a benchmark of a process, a sample is a repetition: the mean of its iterations",
		Recognize: func(h *foreign.Head) bool {
			return h.HasAny("benchmarks[].real_time", "benchmarks[].error_occurred", "benchmarks[].real_coefficient") ||
				h.Has("context.num_cpus", "context.library_build_type", "benchmarks")
		},
		Read: readGoogleBenchmark,
	}
}

func readGoogleBenchmark(in *foreign.Input, out *foreign.Output) error {
	contexts, err := headers(in, out, (*gbenchContext).member, "context")
	if err != nil {
		return err
	}
	j, err := in.JSON()
	if err != nil {
		return err
	}
	for i := 0; i == 0 || another(j); i++ {
		g := gbenchGroup{context: headerAt(contexts, i), in: in, out: out}
		if err := out.RefuseMismatch(g.read(j, i < len(contexts))); err != nil {
			return err
		}
		out.LeaveOutNamed("members of the context that are no text", g.context.leftOut...)
		if g.context.secrets > 0 {
			out.LeaveOut("members of the context whose names look like secrets", g.context.secrets)
		}
	}
	return nil
}

// read reads what a process wrote. Its context may be known already.
func (g *gbenchGroup) read(j *foreign.JSON, known bool) error {
	g.out.Version(g.context.version())
	err := j.Members(func(name string) error {
		switch {
		case name == "benchmarks":
			return g.out.RefuseMismatch(j.Elements(func(int) error {
				var row gbenchRow
				if err := row.read(j); err != nil {
					return g.out.RefuseMismatch(err)
				}
				return g.add(&row)
			}))
		case known:
			return j.Skip()
		}
		return g.out.RefuseMismatch(g.context.member(j, name))
	})
	if flushed := g.flush(); flushed != nil {
		return flushed
	}
	return err
}

// gbenchContext is what holds for all benchmarks of a file.
type gbenchContext struct {
	Date         foreign.Text   `json:"date"`
	Host         foreign.Text   `json:"host_name"`
	Executable   foreign.Text   `json:"executable"`
	CPUs         foreign.Number `json:"num_cpus"`
	MHz          foreign.Text   `json:"mhz_per_cpu"`
	Scaling      foreign.Text   `json:"cpu_scaling_enabled"`
	ASLR         foreign.Text   `json:"aslr_enabled"`
	LoadAverage  foreign.Text   `json:"load_avg"`
	Library      foreign.Text   `json:"library_version"`
	LibraryBuild foreign.Text   `json:"library_build_type"`
	Schema       foreign.Text   `json:"json_schema_version"`

	own     []gbenchFact // that users added: AddCustomContext, --benchmark_context
	leftOut []string     // members of these that are no text
	secrets int          // number of these that look like secrets
}

// gbenchFact is a member of the context that Google Benchmark does not write itself.
type gbenchFact struct{ name, text string }

// gbenchMembers are the members of the context that Google Benchmark writes.
var gbenchMembers = []string{
	"date", "host_name", "executable", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "aslr_enabled", "caches", "load_avg", "library_version",
	"library_build_type", "json_schema_version",
}

// Limits of what users add to the context.
const (
	maxOwnFacts      = 100
	maxOwnFactLength = 1000
)

// addOwn keeps what users added.
func (c *gbenchContext) addOwn(context jsontext.Value) error {
	members, err := jsonMembersOf(context)
	if err != nil {
		return err
	}
	for _, m := range members {
		if slices.Contains(gbenchMembers, m.name) {
			continue
		}
		if foreign.Secret(m.name) {
			c.secrets++
			continue
		}
		kind, text := m.value.Kind(), foreign.TextOf(m.value)
		if kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray || len(c.own) == maxOwnFacts || len(text) > maxOwnFactLength || m.name == "" {
			c.leftOut = append(c.leftOut, m.name)
			continue
		}
		c.own = append(c.own, gbenchFact{"context." + strings.Join(strings.Fields(m.name), "_"), text})
	}
	return nil
}

func (c *gbenchContext) member(j *foreign.JSON, name string) error {
	if name != "context" {
		return j.Skip()
	}
	text, err := j.Value()
	if err != nil {
		return err
	}
	if err := foreign.DecodeAt(j.Where(), text, c); err != nil {
		return err
	}
	return c.addOwn(text)
}

func (c *gbenchContext) version() string {
	if c.Library == "" && c.Schema != "" {
		return "schema " + string(c.Schema)
	}
	return string(c.Library)
}

// run is a run with what holds for all of a file.
func (c *gbenchContext) run(in *foreign.Input) schema.Run {
	r := schema.Run{Env: schema.Env{
		Machine: string(c.Host), Hostname: string(c.Host), CPUCount: c.CPUs.Int64(),
	}}
	for name, text := range map[string]foreign.Text{
		"mhz_per_cpu": c.MHz, "cpu_scaling_enabled": c.Scaling, "aslr_enabled": c.ASLR, "load_avg": c.LoadAverage,
		"library_version": c.Library, "library_build_type": c.LibraryBuild,
	} {
		foreign.SetFact(&r, name, string(text))
	}
	if at, source, err := in.Time(string(c.Date), foreign.ISO...); err == nil {
		foreign.SetStart(&r, at, source)
	}
	return r
}

// program is the name of the executable, without its folder.
func (c *gbenchContext) program() string {
	name := path.Base(strings.ReplaceAll(string(c.Executable), `\`, "/"))
	if name == "." || name == "/" {
		return ""
	}
	return strings.TrimSuffix(name, ".exe")
}

// gbenchSuffixes are what Google Benchmark itself adds to a name.
var gbenchSuffixes = map[string]bool{"real_time": true, "manual_time": true, "process_time": true}

// setName gives a run its benchmark and parameters by the name of a row: BM_x<int>/8/n:128/real_time/threads:2 is
// BM_x<int> with arg0, n, time and threads. Words among the arguments belong to the name; where a parameter would stand
// twice, all does.
func (c *gbenchContext) setName(r *schema.Run, name string) {
	parts := gbenchParts(name)
	last := len(parts)
	for last > 1 && isGbenchArgument(parts[last-1]) {
		last--
	}
	var times []string
	var params []param
	for i, part := range parts[last:] {
		switch key, value, named := strings.Cut(part, ":"); {
		case gbenchSuffixes[part]:
			times = append(times, part)
		case named:
			params = append(params, param{key, value})
		default:
			params = append(params, param{fmt.Sprintf("arg%d", i), part})
		}
	}
	if len(times) > 0 {
		params = append(params, param{"time", strings.Join(times, "/")})
	}
	r.Benchmark = strings.Join(parts[:last], "/")
	if !setParams(r, params) {
		r.Benchmark = name
	}
	if program := c.program(); program != "" {
		r.Benchmark = program + "/" + r.Benchmark
	}
}

// gbenchParts splits a name at its slashes, but for those inside of <> and ().
func gbenchParts(name string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range name {
		switch c {
		case '<', '(':
			depth++
		case '>', ')':
			depth = max(depth-1, 0)
		case '/':
			if depth == 0 {
				parts = append(parts, name[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, name[start:])
}

// isGbenchArgument reports whether a part of a name is an argument: 8, n:128, real_time.
func isGbenchArgument(part string) bool {
	if gbenchSuffixes[part] {
		return true
	}
	key, value, named := strings.Cut(part, ":")
	if !named {
		return part != "" && strings.Trim(strings.TrimPrefix(part, "-"), "0123456789") == "" && part != "-"
	}
	return key != "" && value != "" && value[0] != ':' && !strings.ContainsAny(key, "<>() ")
}
