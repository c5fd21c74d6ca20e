package formats

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// trexMetadata are the formats of TREx, which runs trtexec and writes the content of its log into files:
// X.profile.metadata.json, next to X.timing.json and X.profile.json, and X.build.metadata.json.
func trexMetadata() []foreign.Format {
	return []foreign.Format{
		{
			Name:  "trtexec-metadata",
			About: "TensorRT's TREx: X.profile.metadata.json, taken from the log of trtexec; ignored if X.timing.json is next to it",
			Level: "a run is a launch of trtexec; no samples, but min, max, mean and percentiles of the queries",
			Recognize: func(h *foreign.Head) bool {
				return h.Has("performance_summary", "inference_options", "device_information")
			},
			Read: readTREx,
		},
		{
			Name:  "trtexec-build",
			About: "TensorRT's TREx: X.build.metadata.json, taken from the log of trtexec when it built the engine",
			Side:  "read together with the times and the profile of its engine",
			Recognize: func(h *foreign.Head) bool {
				return h.Has("model_options", "build_options") && !h.HasAny("performance_summary")
			},
		},
	}
}

// trexFile is one of these files.
type trexFile struct {
	Summary   map[string]trexNumbers  `json:"performance_summary"`
	Model     map[string]foreign.Text `json:"model_options"`
	Build     map[string]foreign.Text `json:"build_options"`
	Inference map[string]foreign.Text `json:"inference_options"`
	Device    map[string]foreign.Text `json:"device_information"`
}

// trexNumbers is a number, or a list of them.
type trexNumbers []foreign.Number

// UnmarshalJSON takes both.
func (n *trexNumbers) UnmarshalJSON(text []byte) error {
	var list []foreign.Number
	if len(text) > 0 && text[0] != '[' {
		list = make([]foreign.Number, 1)
		err := foreign.Decode(text, &list[0])
		*n = list
		return err
	}
	err := foreign.Decode(text, &list)
	*n = list
	return err
}

// Ends of the names of the files of an engine.
const (
	trexProfile = ".profile.metadata.json"
	trexBuild   = ".build.metadata.json"
	trexTimes   = ".timing.json"
)

// trexLog is the log that TREx kept of the launch that wrote a file, or nil if there is none next to it.
func trexLog(in *foreign.Input) *trtLog {
	for _, end := range []string{trexTimes, ".profile.json"} {
		stem, ok := strings.CutSuffix(in.Head.Name, end)
		if !ok {
			continue
		}
		content, err := in.Side(stem + trexProfile)
		if err != nil {
			return nil
		}
		var f trexFile
		if foreign.Decode(content, &f) != nil {
			return nil
		}
		return f.log(in, stem)
	}
	return nil
}

// log gives the content of the log, with that of the file about the engine.
func (f *trexFile) log(in *foreign.Input, stem string) *trtLog {
	l := &trtLog{options: map[string]string{}}
	var build trexFile
	if content, err := in.Side(stem + trexBuild); err == nil && foreign.Decode(content, &build) == nil {
		l.takeAll("Model Options", build.Model)
		l.takeAll("Build Options", build.Build)
	}
	if l.options["Model"] == "" {
		l.options["Model"] = strings.TrimSuffix(stem, ".engine")
	}
	l.takeAll("Inference Options", f.Inference)
	l.takeAll("Device Information", f.Device)
	l.section = "Performance summary"
	for _, name := range slices.Sorted(maps.Keys(f.Summary)) {
		l.takeNumbers(name, f.Summary[name])
	}
	return l
}

// takeAll takes the options of a section.
func (l *trtLog) takeAll(section string, options map[string]foreign.Text) {
	l.section = section
	for _, name := range slices.Sorted(maps.Keys(options)) {
		l.take(name + ": " + string(options[name]))
	}
}

// trexStatistics name the numbers of a metric, by how many there are.
var trexStatistics = map[int][][2]string{
	5: {{"min"}, {"max"}, {"mean"}, {"median"}, {"percentile", "99"}},
	7: {{"min"}, {"max"}, {"mean"}, {"median"}, {"percentile", "90"}, {"percentile", "95"}, {"percentile", "99"}},
}

// takeNumbers reads a line of the summary. If all its numbers are zero, the metric was switched off.
func (l *trtLog) takeNumbers(name string, numbers trexNumbers) {
	if len(numbers) == 1 {
		l.take(name + ": " + string(numbers[0]) + map[string]string{"Throughput": " qps", "Total Host Walltime": " s"}[name])
		return
	}
	nothing := !slices.ContainsFunc(numbers, func(n foreign.Number) bool { v := n.Float64(); return v != nil && *v != 0 })
	metric := trtTitles[strings.ToLower(name)]
	if metric == "" || nothing {
		return
	}
	for i, s := range trexStatistics[len(numbers)] {
		l.set(metric, trtValue{s[0], s[1], string(numbers[i]), "ms"})
	}
}

func readTREx(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	var f trexFile
	if err := j.Decode(&f); err != nil {
		return out.RefuseMismatch(err)
	}
	stem := strings.TrimSuffix(in.Head.Name, trexProfile)
	if name := stem + trexTimes; in.Beside(name) {
		out.LeaveTo(name, "summaries of queries whose times are in a file next to it", 1)
		return nil
	}
	r := f.log(in, stem).run()
	out.Version(r.BackendVersion)
	return out.Run("", r)
}
