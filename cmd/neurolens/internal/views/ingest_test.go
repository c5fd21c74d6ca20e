package views

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestIngestNext: after files of several tools were stored, each tool has its command. Sessions are compared only if they begin with the same
// point; those without a start, in the order in which the user named their files, and only
// if there are two.
func TestIngestNext(t *testing.T) {
	t.Parallel()
	file := func(source string, undated int, of ...string) ingest.FileReport {
		f := ingest.FileReport{Named: source != "found", Report: foreign.Report{Name: "x", Source: source, Runs: 5, Undated: undated, PointOf: map[string]string{}}}
		for _, text := range of {
			session, point, _ := strings.Cut(text, "=")
			f.PointOf[session] = point
		}
		return f
	}
	const ids = "01M0000000000000000000000"
	for _, c := range []struct {
		want  string
		files []ingest.FileReport
	}{
		{"neurolens compare session=0000000A session=0000000B; neurolens ls source=t", []ingest.FileReport{file("t", 0, ids+"B=p"), file("t", 0, ids+"A=p")}},
		{"neurolens compare session=0000000A session=0000000C; neurolens ls source=t", []ingest.FileReport{file("t", 0, ids+"A=p"), file("t", 0, ids+"B=q", ids+"C=p")}},
		{"neurolens ls source=t", []ingest.FileReport{file("t", 0, ids+"A=p"), file("t", 0, ids+"B=q")}},
		{"neurolens compare session=0000000B session=0000000A; neurolens ls source=t", []ingest.FileReport{file("t", 5, ids+"B=p"), file("t", 5, ids+"A=p")}},
		{"neurolens ls source=t", []ingest.FileReport{file("t", 5, ids+"B=p"), file("t", 5, ids+"A=p"), file("t", 5, ids+"C=p")}},
		{"neurolens compare session=0000000A session=0000000B; neurolens ls source=u", []ingest.FileReport{file("t", 0, ids+"A=p"), file("u", 0, ids+"C=p"), file("t", 0, ids+"B=p")}},
		{"neurolens ls source=found", []ingest.FileReport{file("found", 5, ids+"B=p"), file("found", 5, ids+"A=p")}},
		{"neurolens ls --by source", []ingest.FileReport{file("a", 0), file("b", 0), file("c", 0), file("d", 0), file("e", 0)}},
	} {
		valuetest.Equal(t, strings.Join(IngestReport{Files: c.files}.next(), "; "), c.want)
	}
}
