package query_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// liveStore makes a store of runs that are in files of their own: so few at once are not sealed.
func liveStore(t testing.TB, runs ...schema.Run) string {
	t.Helper()
	dir := querytest.NewStore(t)
	for few := range slices.Chunk(runs, 7) {
		querytest.Append(t, dir, few...)
	}
	if len(liveFiles(t, dir)) != len(runs) {
		t.Fatal("some are sealed")
	}
	return dir
}

// seal seals runs into one file of a store.
func seal(t testing.TB, dir string, runs ...schema.Run) schema.SealedFile {
	t.Helper()
	rows := slices.SortedFunc(slices.Values(runs), func(a, b schema.Run) int { return strings.Compare(a.RunID, b.RunID) })
	var ids []schema.ULID
	for _, r := range rows {
		id, err := schema.ParseULID(r.RunID)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	name := schema.NewSealedFile(schema.NewClaim(time.Now(), ids), ids)
	writeTable(t, filepath.Join(dir, name.Path(schema.RunsDir)), schema.Runs, nil, func(r *schema.Run) [][]any {
		return [][]any{schema.RunRow(r, schema.DigestOf(r))}
	}, rows)
	writeTable(t, filepath.Join(dir, name.Path(schema.SamplesDir)), schema.Samples, nil, func(r *schema.Run) (all [][]any) {
		metrics := slices.SortedFunc(slices.Values(r.Metrics), func(a, b schema.Metric) int { return strings.Compare(a.Name, b.Name) })
		for _, m := range metrics {
			all = append(all, append([]any{r.RunID}, schema.MetricRow(&m)...))
		}
		return all
	}, rows)
	if slices.ContainsFunc(runs, func(r schema.Run) bool { return len(r.Ops) > 0 }) {
		writeTable(t, filepath.Join(dir, name.Path(schema.OpsDir)), schema.Ops, nil, func(r *schema.Run) (all [][]any) {
			for _, o := range r.Ops {
				all = append(all, append([]any{r.RunID}, schema.OpRow(&o)...))
			}
			return all
		}, rows)
	}
	return name
}

func writeTable(t testing.TB, path string, of *schema.Table, covers []schema.ULID, rowsOf func(*schema.Run) [][]any, runs []schema.Run) {
	t.Helper()
	f, err := createTable(path, of, covers)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		for _, row := range rowsOf(&r) {
			err = errors.Join(err, f.Write(row))
		}
	}
	if err = errors.Join(err, f.close()); err != nil {
		t.Fatal(err)
	}
}

// pack writes a pack of sealed files with their runs.
func pack(t testing.TB, dir string, files []schema.SealedFile, runs ...schema.Run) schema.SealedFile {
	t.Helper()
	name := schema.SealedFile{ID: schema.NewULID(time.Now()), First: files[0].First, Rows: len(runs)}
	var covers []schema.ULID
	for _, f := range files {
		name.First, name.Last = min(name.First, f.First), max(name.Last, f.Last)
		covers = append(covers, f.ID)
	}
	slices.SortFunc(covers, func(a, b schema.ULID) int { return bytes.Compare(a[:], b[:]) })
	rows := slices.SortedFunc(slices.Values(runs), func(a, b schema.Run) int { return strings.Compare(a.RunID, b.RunID) })
	writeTable(t, filepath.Join(dir, name.Path(schema.PacksDir)), schema.Runs, covers, func(r *schema.Run) [][]any {
		return [][]any{schema.RunRow(r, schema.DigestOf(r))}
	}, rows)
	return name
}

// variousRuns are 60 runs of 4 sessions, some without samples, some with two metrics and ops.
func variousRuns() []schema.Run {
	runs := make([]schema.Run, 60)
	for i := range runs {
		runs[i] = querytest.NewRun(i, int64(1000*(i+1)), func(r *schema.Run) {
			r.SessionID = querytest.SessionID(i / 16)
			r.Env.GitCommit = fmt.Sprintf("%040x", i/16)
			switch i % 10 {
			case 3:
				r.Status, r.ErrorKind, r.Stage, r.Error = schema.StatusError, "kind", "measure", "it's odd"
			case 7:
				r.Ops = []schema.Op{{Index: 0, Name: "MatMul", Counters: map[string]float64{"dram": 1.5}}, {Index: 1, Kernels: []string{"k"}}}
			}
		})
		if i%10 == 7 {
			loss := schema.Metric{Name: "loss", Unit: "ratio", Reals: []float64{0.5, -1}, WarmupReals: []float64{9}}
			loss.Summary = stat.Summarize(loss.Reals)
			runs[i].Metrics = append(runs[i].Metrics, loss)
		}
	}
	return runs
}

// everyAnswer asks everything and prints the answers.
func everyAnswer(t *testing.T, annotated bool, stores ...string) string {
	t.Helper()
	db := querytest.Open(t, stores...)
	ctx := context.Background()
	var all strings.Builder
	say := func(what string, answer any, err error) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		fmt.Fprintf(&all, "%s: %v\n", what, answer)
	}
	for _, req := range []query.ListRequest{
		{},
		{Limit: 5},
		{Limit: 100},
		{Since: querytest.Start.Add(20 * time.Second)},
		{Since: querytest.Start.Add(20 * time.Second), Until: querytest.Start.Add(40 * time.Second), Limit: 7},
		{Filter: "bs>=4 session=last~1"},
		{Filter: "bs>=4", Limit: 3},
		{Filter: "dim>64", Sort: []string{"-p50", "bs"}, Limit: 9},
		{Sort: []string{"dim", "-bs"}},
		{Filter: "tag.who=me tag.kept!=yes"},
		{Filter: "tag.kept=yes or status!=ok"},
		{Filter: "run=" + variousRuns()[3].RunID[20:]},
		{Filter: "baseline=good or repeat_index=3"},
	} {
		if !annotated && strings.Contains(req.Filter, "baseline") {
			continue
		}
		l, err := db.List(ctx, req)
		say(fmt.Sprintf("list %+v", req), l, err)
	}
	points, err := db.Points(ctx, "status=ok not tag.kept=yes")
	say("points", points, err)
	for _, text := range []string{
		"SELECT * FROM runs ORDER BY run_id", "SELECT * FROM samples ORDER BY run_id, metric", "SELECT * FROM ops ORDER BY ALL",
		"SELECT * FROM samples_long ORDER BY ALL", "SELECT count(*) FROM runs WHERE tags['kept'] = 'yes'",
	} {
		r, err := sql.Select(ctx, db, text)
		say(text, r, err)
	}
	for _, filter := range []string{"", "bs>=4 tag.who=me"} {
		for _, table := range []string{"runs", "samples", "samples_long", "ops"} {
			var out bytes.Buffer
			_, err := export.Write(ctx, db, export.Request{Dest: "-", Stdout: &out, Format: export.JSONL, Table: table, Filter: filter})
			say("export "+table+" "+filter, out.String(), err)
		}
	}
	done, err := db.Done(ctx, "quick start", "lab3")
	text, jsonErr := json.Marshal(done)
	say("done", string(text), errors.Join(err, jsonErr))
	for _, i := range []int{4, 17, 23} {
		d, err := db.Show(ctx, variousRuns()[i].RunID)
		say("show", d, err)
	}
	return all.String()
}

// TestEveryZone: however the runs lie, in files of their own, sealed, in packs, or in several stores, the answers are
// the same; with events and without. By default it takes two stores that share runs, with events.
func TestEveryZone(t *testing.T) {
	t.Parallel()
	runs := variousRuns()
	for _, annotated := range []bool{false, true} {
		if !annotated && !long() {
			continue
		}
		stores := map[string]func() []string{
			"sealed": func() []string {
				dir := querytest.NewStore(t)
				seal(t, dir, runs...)
				return []string{dir}
			},
			"mixed": func() []string {
				dir := liveStore(t, runs[40:]...)
				seal(t, dir, runs[20:40]...)
				seal(t, dir, runs[:20]...)
				return []string{dir}
			},
			"interleaved": func() []string {
				parts := make([][]schema.Run, 4)
				for i, r := range runs {
					parts[i%4] = append(parts[i%4], r)
				}
				dir := liveStore(t, parts[3]...)
				for _, part := range parts[:3] {
					seal(t, dir, part...)
				}
				return []string{dir}
			},
			"packed": func() []string {
				dir := querytest.NewStore(t)
				var files []schema.SealedFile
				for few := range slices.Chunk(runs[:50], 2) {
					files = append(files, seal(t, dir, few...))
				}
				pack(t, dir, files[5:10], runs[10:20]...)
				pack(t, dir, files[:20], runs[:40]...)
				seal(t, dir, runs[50:]...)
				return []string{dir}
			},
			"stores": func() []string {
				a, b := liveStore(t, runs[30:45]...), liveStore(t, runs[40:]...)
				seal(t, a, runs[:20]...)
				seal(t, b, runs[10:35]...) // 10 to 19 are sealed twice, 30 to 34 live in the other
				return []string{a, b}
			},
			"copies": func() []string {
				a := querytest.NewStore(t)
				seal(t, a, runs[:30]...)
				b := filepath.Join(t.TempDir(), "copy")
				if err := os.CopyFS(b, os.DirFS(a)); err != nil {
					t.Fatal(err)
				}
				seal(t, b, runs[30:]...)
				return []string{a, b}
			},
			"by the writer": func() []string {
				dir := liveStore(t, runs[:30]...)
				s, err := ingest.Open(dir, "test")
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range runs[30:] {
					if err := s.Append(r); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := s.Seal(context.Background()); err != nil {
					t.Fatal(err)
				}
				return []string{dir}
			},
		}
		live := liveStore(t, runs...)
		if annotated {
			annotate(t, live, runs)
		}
		want := everyAnswer(t, annotated, live)
		for name, makeStores := range stores {
			if !long() && name != "stores" {
				continue
			}
			dirs := makeStores()
			if annotated {
				annotate(t, dirs[len(dirs)-1], runs)
			}
			got := everyAnswer(t, annotated, dirs...)
			if got != want {
				t.Errorf("%s (annotated: %v): %s", name, annotated, firstDifference(got, want))
			}
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			at := 0
			for at < min(len(g[i]), len(w[i])) && g[i][at] == w[i][at] {
				at++
			}
			return fmt.Sprintf("%.60s ...\n got %.200s\nwant %.200s", g[i], g[i][max(at-100, 0):], w[i][max(at-100, 0):])
		}
	}
	return "more lines"
}

// annotate writes events about runs, in files and in a pack: the newest run is removed.
func annotate(t testing.TB, dir string, runs []schema.Run) {
	t.Helper()
	id := func(i int) string { return runs[i].RunID }
	var packed []byte
	for i, e := range []schema.Event{
		{Kind: schema.EventTag, Key: "kept", Value: "yes", Runs: []string{id(1), id(2), id(30), id(59)}},
		{Kind: schema.EventRemove, Runs: []string{id(59), id(30), id(12)}},
		{Kind: schema.EventRestore, Runs: []string{id(30)}},
		{Kind: schema.EventUntag, Key: "who", Runs: []string{id(2), id(44)}},
		{Kind: schema.EventNote, Value: "seen", Runs: []string{id(4)}},
		{Kind: schema.EventBless, Key: "good", Runs: []string{id(6), id(12), id(50)}},
		{Kind: schema.EventNote, Value: "seen again", Runs: []string{id(4)}},
	} {
		at := querytest.Start.Add(time.Duration(i) * time.Hour)
		e.EventID, e.At = schema.ULIDFrom(at, [10]byte{9: byte(i)}).String(), at
		content, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		event, err := schema.ParseULID(e.EventID)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, schema.EventFile(event)), content)
		if packed = append(packed, content...); i == 3 {
			writeFile(t, filepath.Join(dir, schema.PackedEvents(event)), packed)
		}
	}
}

// TestAnnotated: what events say is what the answers show.
func TestAnnotated(t *testing.T) {
	t.Parallel()
	runs := variousRuns()
	dir := querytest.NewStore(t)
	seal(t, dir, runs[:30]...)
	seal(t, dir, runs[30:]...)
	annotate(t, dir, runs)
	db := querytest.Open(t, dir)
	ctx := context.Background()
	l, err := db.List(ctx, query.ListRequest{Limit: 2, Columns: []string{"run_id", "tags"}})
	if err != nil || l.Total != 58 || fmt.Sprint(l.Rows) != fmt.Sprintf("[[%s map[who:me]] [%s map[who:me]]]", runs[58].RunID, runs[57].RunID) {
		t.Errorf("%d: %v, %v", l.Total, l.Rows, err)
	}
	l, err = db.List(ctx, query.ListRequest{Filter: "tag.kept=yes", Columns: []string{"run_id", "tags"}})
	want := fmt.Sprintf("[[%s map[kept:yes who:me]] [%s map[kept:yes]] [%s map[kept:yes who:me]]]", runs[30].RunID, runs[2].RunID, runs[1].RunID)
	if err != nil || fmt.Sprint(l.Rows) != want {
		t.Errorf("%v, %v; want %s", l.Rows, err, want)
	}
	l, err = db.List(ctx, query.ListRequest{Filter: "baseline=good", Columns: []string{"run_id"}})
	if err != nil || fmt.Sprint(l.Rows) != fmt.Sprintf("[[%s] [%s]]", runs[50].RunID, runs[6].RunID) {
		t.Errorf("baseline: %v, %v", l.Rows, err)
	}
	_, err = db.List(ctx, query.ListRequest{Filter: "baseline=goood"})
	querytest.WantInput(t, err, `there is no baseline "goood"; did you mean good?`)
	d, err := db.Show(ctx, runs[4].RunID)
	if err != nil || len(d.Notes) != 2 || d.Notes[0].Text != "seen" || d.Notes[1].Text != "seen again" {
		t.Errorf("notes %v, %v", d.Notes, err)
	}
	_, err = db.Show(ctx, runs[12].RunID)
	querytest.WantInput(t, err, "was removed; restore brings it back")
	// A derived file that is damaged is passed over; an event that is damaged is named.
	packs, err := filepath.Glob(dir + "/packs/events-*")
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	writeFile(t, packs[0], []byte(`{"event_id":"`))
	if l, err := db.List(ctx, query.ListRequest{Filter: "tag.kept=yes"}); err != nil || l.Total != 3 {
		t.Errorf("%d runs, %v", l.Total, err)
	}
	events, err := filepath.Glob(dir + "/events/*.json")
	if err != nil || len(events) != 7 {
		t.Fatal(events, err)
	}
	writeFile(t, events[0], []byte(`{}`))
	_, err = db.List(ctx, query.ListRequest{Limit: 1})
	if !errors.Is(err, schema.ErrDamaged) || !errors.Is(err, query.ErrStore) || !strings.Contains(err.Error(), "events/"+filepath.Base(events[0])) {
		t.Errorf("got %v", err)
	}
}

// TestDamagedSealed: a sealed file that is torn or gone is named, whatever is asked; a pack that is, is done without.
func TestDamagedSealed(t *testing.T) {
	t.Parallel()
	runs := variousRuns()
	ctx := context.Background()
	for name, damage := range map[string]func(t *testing.T, dir string, f schema.SealedFile) (string, error){
		"torn": func(t *testing.T, dir string, f schema.SealedFile) (string, error) {
			path := f.Path(schema.RunsDir)
			return path, os.Truncate(filepath.Join(dir, path), 5000)
		},
		"empty": func(t *testing.T, dir string, f schema.SealedFile) (string, error) {
			path := f.Path(schema.RunsDir)
			return path, os.Truncate(filepath.Join(dir, path), 0)
		},
	} {
		dir := querytest.NewStore(t)
		seal(t, dir, runs[:30]...)
		bad, err := damage(t, dir, seal(t, dir, runs[30:]...))
		if err != nil {
			t.Fatal(err)
		}
		db := querytest.Open(t, dir)
		_, list := db.List(ctx, query.ListRequest{Limit: 1})
		_, filter := db.List(ctx, query.ListRequest{Filter: "status=ok"})
		_, points := db.Points(ctx, "")
		_, selected := sql.Select(ctx, db, "SELECT count(*) FROM runs")
		for question, err := range map[string]error{"list": list, "filter": filter, "points": points, "sql": selected} {
			if !errors.Is(err, schema.ErrDamaged) || !errors.Is(err, query.ErrStore) || !strings.Contains(err.Error(), bad) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %s: got %v", name, question, err)
			}
		}
	}
}

// TestSamplesGone: samples that are not there are missed where runs have some, and only there.
func TestSamplesGone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	failed := querytest.NewRun(3, 0, func(r *schema.Run) { r.Status = schema.StatusError })
	dir := querytest.NewStore(t)
	f := seal(t, dir, failed)
	if err := os.Remove(filepath.Join(dir, f.Path(schema.SamplesDir))); err != nil {
		t.Fatal(err)
	}
	if d, err := querytest.Open(t, dir).Show(ctx, failed.RunID); err != nil || len(d.Metrics.Rows) != 0 {
		t.Errorf("%v, %v", d.Metrics.Rows, err)
	}
	good := querytest.NewRun(4, 1000, nil)
	f = seal(t, dir, good)
	if err := os.Remove(filepath.Join(dir, f.Path(schema.SamplesDir))); err != nil {
		t.Fatal(err)
	}
	db := querytest.Open(t, dir)
	_, show := db.Show(ctx, good.RunID)
	_, selected := sql.Select(ctx, db, "SELECT count(*) FROM samples_long")
	_, written := export.Write(ctx, db, export.Request{Dest: t.TempDir(), Format: export.CSV})
	for question, err := range map[string]error{"show": show, "sql": selected, "export": written} {
		if !errors.Is(err, schema.ErrDamaged) || !strings.Contains(err.Error(), f.Path(schema.SamplesDir)) {
			t.Errorf("%s: got %v", question, err)
		}
	}
	// What does not speak of samples does not look for them.
	if r, err := sql.Select(ctx, db, "SELECT count(*) FROM runs"); err != nil || fmt.Sprint(r.Rows) != "[[2]]" {
		t.Errorf("%v, %v", r.Rows, err)
	}
}

// TestPackGone: packs may be removed, or be damaged, at any time.
func TestPackGone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	runs := querytest.ManyRuns(200)
	dir := querytest.NewStore(t)
	var files []schema.SealedFile
	for few := range slices.Chunk(runs, 2) {
		files = append(files, seal(t, dir, few...))
	}
	path := filepath.Join(dir, pack(t, dir, files, runs...).Path(schema.PacksDir))
	db := querytest.Open(t, dir)
	count := func() {
		t.Helper()
		if l, err := db.List(ctx, query.ListRequest{Filter: "status=ok", Limit: 1}); err != nil || l.Total != 200 {
			t.Errorf("%d runs, %v", l.Total, err)
		}
	}
	count()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 3000); err != nil {
		t.Fatal(err)
	}
	count()
	turns, done := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(done)
		for range turns {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				done <- err
				return
			}
			next := path + ".next"
			if err := errors.Join(os.WriteFile(next, whole, 0o666), os.Rename(next, path)); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 20 {
		select {
		case turns <- struct{}{}: // meanwhile it is gone, and there again
		case err := <-done:
			t.Fatal(err)
		}
		count()
	}
	close(turns)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestLargeRun: what does not fit in the little memory that questions usually have is answered all the same.
func TestLargeRun(t *testing.T) {
	t.Parallel()
	if !long() {
		t.Skip("it takes very many samples: NEUROLENS_LONG=1")
	}
	const n = 5_000_000
	ticks := make([]int64, n)
	for i := range ticks {
		ticks[i] = int64(i)
	}
	run := querytest.NewRun(1, 0, func(r *schema.Run) {
		r.Metrics, r.Primary = []schema.Metric{{Name: "latency", Unit: "ns", Tick: 1, Ticks: ticks}}, "latency"
	})
	dir := querytest.NewStore(t)
	seal(t, dir, run)
	d, err := querytest.Open(t, dir).Show(context.Background(), run.RunID)
	if err != nil {
		t.Fatal(err)
	}
	values, _ := d.Metrics.Rows[0][d.Metrics.Index("values")].([]any)
	if len(values) != n || values[n-1] != float64(n-1) {
		t.Errorf("%d values", len(values))
	}
}
