package views

import (
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestIngestNext: after files of several tools were stored, each tool has its command. Sessions are compared only if they begin with the same
// point; those without a start, in the order in which the user named two files, or else in that of the changes of the files. Runs without a
// session are those of a path, which files of the same name in two folders share.
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
	at := func(second int64, path string, f ingest.FileReport) ingest.FileReport {
		f.Changed, f.Path = time.Unix(second, 0), path
		return f
	}
	ofCommits := func(f ingest.FileReport, commits ...string) ingest.FileReport {
		for _, commit := range commits {
			f.Count(&schema.Run{Env: schema.Env{GitCommit: commit}})
		}
		return f
	}
	const ids = "01M0000000000000000000000"
	day := func(day int, last string) string {
		return schema.ULIDFrom(time.Date(2026, 10, day, 0, 0, 0, 0, time.UTC), [10]byte{}).String()[:25] + last
	}
	for _, c := range []struct {
		want  string
		files []ingest.FileReport
	}{
		{"neurolens compare session=0000000A session=0000000B; neurolens ls source=t", []ingest.FileReport{file("t", 0, ids+"B=p"), file("t", 0, ids+"A=p")}},
		{"neurolens compare session=0000000A session=0000000C; neurolens ls source=t", []ingest.FileReport{file("t", 0, ids+"A=p"), file("t", 0, ids+"B=q", ids+"C=p")}},
		{"neurolens ls source=t", []ingest.FileReport{file("t", 0, ids+"A=p"), file("t", 0, ids+"B=q")}},
		{"neurolens compare session=0000000B session=0000000A; neurolens ls source=t", []ingest.FileReport{file("t", 5, ids+"B=p"), file("t", 5, ids+"A=p")}},
		{"neurolens compare session=0000000C session=0000000B; neurolens ls source=t", []ingest.FileReport{at(3, "b", file("t", 5, ids+"B=p")), at(1, "a", file("t", 5, ids+"A=p")), at(2, "c", file("t", 5, ids+"C=p"))}},
		{"neurolens compare session=0000000A session=0000000B; neurolens ls source=u", []ingest.FileReport{file("t", 0, ids+"A=p"), file("u", 0, ids+"C=p"), file("t", 0, ids+"B=p")}},
		{"neurolens compare session=0000000A session=0000000B; neurolens ls source=found", []ingest.FileReport{at(2, "b", file("found", 5, ids+"B=p")), at(1, "a", file("found", 5, ids+"A=p"))}},
		{"neurolens compare env.source.path=a env.source.path=b; neurolens ls source=found", []ingest.FileReport{at(2, "b", file("found", 5, "=p")), at(1, "a", file("found", 5, "=p"))}},
		{"neurolens ls source=found", []ingest.FileReport{at(2, "a", file("found", 5, "=p")), at(1, "a", file("found", 5, "=p"))}},
		{"neurolens compare env.source.path=flat_old.csv env.source.path=flat_new.csv; neurolens ls source=found", []ingest.FileReport{at(1, "flat_new.csv", file("found", 5, "=p")), at(1, "flat_old.csv", file("found", 5, "=p"))}},
		{"neurolens compare session=0000000A session=0000000B; neurolens ls source=found", []ingest.FileReport{at(1, "x/after/r", file("found", 5, ids+"B=p")), at(1, "x/before/r", file("found", 5, ids+"A=p"))}},
		{"neurolens compare commit=1a2b3c4 commit=5d6e7f8; neurolens ls source=t", []ingest.FileReport{ofCommits(file("t", 5, "=p"), "1a2b3c4d5e", "5d6e7f8")}},
		{"neurolens ls source=t", []ingest.FileReport{ofCommits(file("t", 5, "=p"), "1a2b3c4d5e")}},
		{"neurolens compare when=2026-10-01 when=2026-10-02; neurolens ls source=t", []ingest.FileReport{file("t", 0, day(1, "A")+"=p"), file("t", 0, day(1, "B")+"=p"), file("t", 0, day(2, "A")+"=p"), file("t", 0, day(2, "B")+"=p")}},
		{"neurolens compare session=0000000A session=0000000B; neurolens ls source=t", []ingest.FileReport{file("t", 0, day(1, "A")+"=p"), file("t", 0, day(2, "B")+"=p")}},
		{"neurolens history source=t", []ingest.FileReport{file("t", 0, day(1, "A")+"=p", day(2, "A")+"=p", day(3, "A")+"=p", day(4, "A")+"=p", day(5, "A")+"=p", day(6, "A")+"=p", day(7, "A")+"=p", day(8, "A")+"=p")}},
		{"neurolens ls --by source", []ingest.FileReport{file("a", 0), file("b", 0), file("c", 0), file("d", 0), file("e", 0)}},
	} {
		valuetest.Equal(t, strings.Join(IngestReport{Files: c.files}.next(), "; "), c.want)
	}
}
