package formats_test

import (
	"os"
	"path"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/schema"
)

// earlier are the ids of runs, and their session, as version 0.1.0 stored files in the order of their records. It read no requests_failed, and
// took the end of a benchmark of vLLM for its start.
var earlier = map[string]struct {
	session string
	ids     []string
}{
	"vllm/serve-detailed.json":    {"01M28E0AE8HXW5HFPWWTGZN29Q", []string{"01M28E0AE88241VY8CYD6MFBM5"}},
	"vllm/serve-failed.json":      {"01M28E0AE8M11V9SQFG36GY9B6", []string{"01M28E0AE88241VY8C25R45BGJ"}},
	"vllm/appended.jsonl":         {"01M28E205093FW8JMYW7VPBA3V", []string{"01M28E20508241VY8CF2DV4BDP", "01M28E2148F2DV4BDPF5SD17KC"}},
	"aiperf/profile_export.jsonl": {"01KJAHJXR0HCVMQBDGYDMGWR4W", []string{"01KJAHJXR08241VY8CCFX7BG1P"}},
	"genai-perf/my_export.json":   {"01JC1H426VW5XBE6PDKERYX9E5", []string{"01JC1H426V8241VY8CF2XCDPFH", "0000000000F2XCDPFHC5MHEWS8"}},
	"sglang/results.jsonl":        {"", []string{"00000000008241VY8CN9G3ASW4", "0000000000N9G3ASW4V11EQCZT", "0000000000V11EQCZTCRM08PMM", "0000000000CRM08PMM3FMV2F11"}},
	"vllm-text/vllm.log":          {"", []string{"00000000008241VY8C1GYZWPKK", "00000000001GYZWPKKFPC58WMM"}},
	"vllm-text/sglang.log":        {"", []string{"00000000008241VY8CCQB67Y5X"}},
}

// TestEarlierVersions: a file that an earlier version has stored, which read less of it or another start, is still known. What it has grown by
// belongs to the session that is stored.
func TestEarlierVersions(t *testing.T) {
	t.Parallel()
	all := formats.All()
	for name, was := range earlier {
		content, err := os.ReadFile(path.Join(fixtures, name))
		if err != nil {
			t.Fatal(err)
		}
		for stores := 1; stores <= len(was.ids); stores++ {
			old := stored{}
			for _, text := range was.ids[:stores] {
				id, err := schema.ParseULID(text)
				if err != nil {
					t.Fatal(err)
				}
				old[id] = schema.Run{RunID: text, SessionID: was.session}
			}
			var added []schema.Run
			f := file{name: name, content: content, folder: os.DirFS(fixtures)}
			read(foreign.NewReader(foreign.Added{}, old), all, f, func(v schema.Valid) bool { added = append(added, v.Run()); return true })
			if len(added) != len(was.ids)-stores {
				t.Errorf("%s: %d of %d runs were stored, %d are added", name, stores, len(was.ids), len(added))
			}
			for _, r := range added {
				if r.SessionID != was.session {
					t.Errorf("%s: what it has grown by is of session %q, not %q", name, r.SessionID, was.session)
				}
			}
		}
	}
}

// TestEarlierVersionsTwice: a file and a copy of it add nothing to a store of an earlier version, and one that differs in its start alone is
// another file.
func TestEarlierVersionsTwice(t *testing.T) {
	t.Parallel()
	const text = `{"date": "20260610-205322", "model_id": "m", "num_prompts": 4, "request_rate": "inf", "duration": 129.4, "completed": 4, "request_throughput": 2.5}`
	const began = `{"date": "20260610-205322", "model_id": "m", "num_prompts": 4, "request_rate": "inf", "duration": 129.4, "completed": 4, "request_throughput": 2.5, ` +
		`"benchmark_start_time_unix": 1781124671.9}`
	count := func(s stored, texts ...string) (n int) {
		reader := foreign.NewReader(foreign.Added{}, s)
		for _, text := range texts {
			f := file{name: "a.json", content: []byte(text), folder: fstest.MapFS{"a.json": {Data: []byte(text)}}}
			read(reader, formats.All(), f, func(schema.Valid) bool { n++; return true })
		}
		return n
	}
	if n := count(stored{}, text, text, began, began); n != 2 {
		t.Errorf("%d runs of two files and their copies", n)
	}
}
