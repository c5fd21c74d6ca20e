package imports

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/formats"
)

// TestNoResults: what ingest would report as refused, or as nothing, is an error.
func TestNoResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ format, text, want string }{
		{"hyperfine", `{"results": []}`, "reading it as hyperfine: it has no run"},
		{"hyperfine", `{"results": [`, "reading it as hyperfine: "},
		{"hyperfine", "hello", "reading it as hyperfine: "},
		{"hyperfine", "", "reading it as hyperfine: "},
		{"jsonl", `{"benchmark": "b", "samples": [{"metric": "latency", "unit": "ms", "values": [1]}]}` + "\n" + `{"benchmark": 5}` + "\n", "reading it as jsonl: run 2: "},
		{"no-such", "", "unknown format no-such"},
	} {
		runs, err := Results(t.Context(), formats.All(), c.format, "out", strings.NewReader(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || runs != nil {
			t.Errorf("%s: %q: %d runs, %v: want %s", c.format, c.text, len(runs), err, c.want)
		}
	}
}
