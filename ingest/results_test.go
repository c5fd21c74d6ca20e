package ingest

import (
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/schema"
)

// outputsOf returns files with some contents.
func outputsOf(texts map[string]string) Outputs {
	outputs := Outputs{}
	for name, text := range texts {
		outputs[name] = io.NewSectionReader(strings.NewReader(text), 0, int64(len(text)))
	}
	return outputs
}

// TestResultsBeside: for each format that reads files beside its own, the runs of the outputs of a process are those that ingest makes of the
// folder, and files that the process did not write are not read.
func TestResultsBeside(t *testing.T) {
	t.Parallel()
	fixtures := os.DirFS("../fixtures/results")
	tried := map[string]bool{}
	for format, file := range map[string]string{
		"aiperf": "aiperf/profile_export.jsonl", "genai-perf": "genai-perf/my_export.json", "vllm-latency": "vllm/latency_tiny.json", "vllm-throughput": "",
	} {
		tried[format] = true
		if file == "" { // as vllm-latency
			continue
		}
		folder := must(fs.Sub(fixtures, path.Dir(file)))
		texts := map[string]string{}
		for _, name := range append(FilesBeside(formats.All(), format, path.Base(file)), path.Base(file)) {
			if content, err := fs.ReadFile(folder, name); err == nil {
				texts[name] = string(content)
			}
		}
		want := foreignOf(t, format, folder, path.Base(file))
		if got := digestsOf(readOf(t, format, path.Base(file), texts)); len(texts) < 2 || !slices.Equal(got, want) {
			t.Errorf("%s of %d files: %v, want %v", format, len(texts), got, want)
		}
		alone := map[string]string{path.Base(file): texts[path.Base(file)]}
		if got := digestsOf(readOf(t, format, path.Base(file), alone)); slices.Equal(got, want) {
			t.Errorf("%s alone gives the same", format)
		}
	}
	for _, f := range formats.All() {
		if f.Beside != nil && !tried[f.Name] {
			t.Errorf("%s is not tried", f.Name)
		}
	}
}

// readOf reads a file of a process, without the records that are refused.
func readOf(t *testing.T, format, file string, texts map[string]string) (runs []schema.Run) {
	t.Helper()
	all := formats.All()
	in := must(foreign.Open(t.Context(), outputsOf(texts), file, nil))
	i := slices.IndexFunc(all, func(f foreign.Format) bool { return f.Name == format })
	must(foreign.NewReader(foreign.Added{}, nil).Read(in, &all[i], func(v schema.Valid) bool { runs = append(runs, v.Run()); return true }))
	return runs
}

// foreignOf returns the digests of the runs of a file in its folder.
func foreignOf(t *testing.T, format string, folder fs.FS, file string) []string {
	t.Helper()
	all := formats.All()
	in := must(foreign.Open(t.Context(), folder, file, nil))
	defer in.Close()
	i := slices.IndexFunc(all, func(f foreign.Format) bool { return f.Name == format })
	var runs []schema.Run
	must(foreign.NewReader(foreign.Added{}, nil).Read(in, &all[i], func(v schema.Valid) bool { runs = append(runs, v.Run()); return true }))
	return digestsOf(runs)
}

func digestsOf(runs []schema.Run) (all []string) {
	for i := range runs {
		all = append(all, schema.DigestOf(&runs[i]))
	}
	return all
}

// TestNoResults: what ingest would report as refused, or as nothing, is an error.
func TestNoResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ format, text, want string }{
		{"hyperfine", `{"results": []}`, "reading it as hyperfine: no result in it"},
		{"hyperfine", `{"results": [`, "reading it as hyperfine: "},
		{"hyperfine", "hello", "reading it as hyperfine: "},
		{"hyperfine", "", "reading it as hyperfine: "},
		{"jsonl", `{"benchmark": "b", "samples": [{"metric": "latency", "unit": "ms", "values": [1]}]}` + "\n" + `{"benchmark": 5}` + "\n", "reading it as jsonl: run 2: "},
		{"no-such", "", "unknown format no-such"},
	} {
		runs, err := ReadResults(t.Context(), formats.All(), c.format, "out", outputsOf(map[string]string{"out": c.text}))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || runs != nil {
			t.Errorf("%s: %q: %d runs, %v: want %s", c.format, c.text, len(runs), err, c.want)
		}
	}
}
