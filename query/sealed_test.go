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
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// everyAnswer asks everything and prints the answers.
func everyAnswer(t *testing.T, annotated bool, stores ...string) string {
	t.Helper()
	db := querytest.Open(t, stores...)
	ctx := context.Background()
	var all strings.Builder
	say := func(what string, answer any, err error) {
		valuetest.OK(t, err, what)
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
		{Filter: "run=" + querytest.VariousRuns()[3].RunID[20:]},
		{Filter: "baseline=good or repeat_index=3"},
	} {
		if !annotated && strings.Contains(req.Filter, "baseline") {
			continue
		}
		l, err := db.List(ctx, req)
		say(fmt.Sprintf("list %+v", req), asJSON(t, l), err)
		say(fmt.Sprintf("pages %+v", req), querytest.Pages(t, db, req), nil)
	}
	groups, err := db.Groups(ctx, query.GroupRequest{Filter: "status=ok not tag.kept=yes", By: []string{"point_id"}, Best: true})
	say("groups", answer.TableOf(groups.Fields(), groups.Groups), err)
	points, err := db.SessionPoints(ctx, querytest.SessionID(1), nil)
	say("points", answer.TableOf(query.SessionPointFields(), points), err)
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
			_, err := export.Write(ctx, db, export.Request{Dest: "-", Stdout: &out, Format: export.JSONL, Tables: []string{table}, Filter: filter})
			say("export "+table+" "+filter, out.String(), err)
		}
	}
	done, err := db.Done(ctx, []string{"quick start"}, "lab3")
	say("done", asJSON(t, done), err)
	for _, i := range []int{4, 17, 23} {
		d, err := db.Show(ctx, querytest.VariousRuns()[i].RunID)
		say("show", asJSON(t, d), err)
	}
	return all.String()
}

// asJSON prints values, also those behind pointers.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	text := valuetest.Must(json.Marshal(v))
	return string(text)
}

// TestEveryZone: the answers are the same whether the runs are in files of their own, sealed, in packs, or in several stores,
// with events and without.
func TestEveryZone(t *testing.T) {
	querytest.NeedsLong(t)
	t.Parallel()
	runs := querytest.VariousRuns()
	for _, annotated := range []bool{false, true} {
		stores := map[string]func() []string{
			"sealed": func() []string {
				dir := querytest.NewStore(t)
				querytest.Seal(t, dir, runs...)
				return []string{dir}
			},
			"mixed": func() []string {
				dir := querytest.LiveStore(t, runs[40:]...)
				querytest.Seal(t, dir, runs[20:40]...)
				querytest.Seal(t, dir, runs[:20]...)
				return []string{dir}
			},
			"interleaved": func() []string {
				parts := make([][]schema.Run, 4)
				for i, r := range runs {
					parts[i%4] = append(parts[i%4], r)
				}
				dir := querytest.LiveStore(t, parts[3]...)
				for _, part := range parts[:3] {
					querytest.Seal(t, dir, part...)
				}
				return []string{dir}
			},
			"packed": func() []string {
				dir := querytest.NewStore(t)
				var files []schema.SealedFile
				for few := range slices.Chunk(runs[:50], 2) {
					files = append(files, querytest.Seal(t, dir, few...))
				}
				querytest.Pack(t, dir, files[5:10], runs[10:20]...)
				querytest.Pack(t, dir, files[:20], runs[:40]...)
				querytest.Seal(t, dir, runs[50:]...)
				return []string{dir}
			},
			"stores": func() []string {
				a, b := querytest.LiveStore(t, runs[30:45]...), querytest.LiveStore(t, runs[40:]...)
				querytest.Seal(t, a, runs[:20]...)
				querytest.Seal(t, b, runs[10:35]...) // 10 to 19 are sealed twice, 30 to 34 live in the other
				return []string{a, b}
			},
			"copies": func() []string {
				a := querytest.NewStore(t)
				querytest.Seal(t, a, runs[:30]...)
				b := filepath.Join(t.TempDir(), "copy")
				valuetest.OK(t, os.CopyFS(b, os.DirFS(a)))
				querytest.Seal(t, b, runs[30:]...)
				return []string{a, b}
			},
			"by the writer": func() []string {
				dir := querytest.LiveStore(t, runs[:30]...)
				s := valuetest.Must(ingest.Open(dir, "test"))
				for _, r := range runs[30:] {
					valuetest.OK(t, s.Append(r))
				}
				valuetest.Must(s.Seal(context.Background()))
				return []string{dir}
			},
		}
		live := querytest.LiveStore(t, runs...)
		if annotated {
			querytest.SayMuch(t, live, runs)
		}
		want := everyAnswer(t, annotated, live)
		for name, makeStores := range stores {
			dirs := makeStores()
			if annotated {
				querytest.SayMuch(t, dirs[len(dirs)-1], runs)
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

// TestAnnotated: answers show the effects of events.
func TestAnnotated(t *testing.T) {
	t.Parallel()
	runs := querytest.VariousRuns()
	dir := querytest.NewStore(t)
	querytest.Seal(t, dir, runs[:30]...)
	querytest.Seal(t, dir, runs[30:]...)
	querytest.SayMuch(t, dir, runs)
	db := querytest.Open(t, dir)
	ctx := context.Background()
	l, err := db.List(ctx, query.ListRequest{Limit: 2})
	valuetest.DeepEqual(t, []any{err, l.Total}, []any{nil, 58})
	p := querytest.Pages(t, db, query.ListRequest{Limit: 2}, "run_id", "tags")
	valuetest.Equal(t, fmt.Sprint(p.Rows), fmt.Sprintf("[[%s map[who:me]] [%s map[who:me]]]", runs[58].RunID, runs[57].RunID), p.Rows)
	p = querytest.Pages(t, db, query.ListRequest{Filter: "tag.kept=yes"}, "run_id", "tags")
	want := fmt.Sprintf("[[%s map[kept:yes who:me]] [%s map[kept:yes]] [%s map[kept:yes who:me]]]", runs[30].RunID, runs[2].RunID, runs[1].RunID)
	valuetest.Equal(t, fmt.Sprint(p.Rows), want, p.Rows)
	p = querytest.Pages(t, db, query.ListRequest{Filter: "baseline=good"}, "run_id")
	valuetest.Equal(t, fmt.Sprint(p.Rows), fmt.Sprintf("[[%s] [%s]]", runs[50].RunID, runs[6].RunID), "baseline", p.Rows)
	_, err = db.List(ctx, query.ListRequest{Filter: "baseline=goood"})
	querytest.WantInput(t, err, `there is no baseline "goood"; did you mean good?`)
	d, err := db.Show(ctx, runs[4].RunID)
	if err != nil || len(d.Notes) != 2 || d.Notes[0].Text != "seen" || d.Notes[1].Text != "seen again" {
		t.Errorf("notes %v, %v", d.Notes, err)
	}
	_, err = db.Show(ctx, runs[12].RunID)
	querytest.WantInput(t, err, "was removed; restore brings it back")
	// A derived file that is damaged is passed over; an event that is damaged is named.
	packs := valuetest.Must(filepath.Glob(dir + "/packs/events-*"))
	valuetest.Equal(t, len(packs), 1, packs)
	querytest.WriteFile(t, packs[0], []byte(`{"event_id":"`))
	valuetest.Equal(t, valuetest.Must(db.List(ctx, query.ListRequest{Filter: "tag.kept=yes"})).Total, 3)
	events := valuetest.Must(filepath.Glob(dir + "/events/*.json"))
	valuetest.Equal(t, len(events), 7, events)
	querytest.WriteFile(t, events[0], []byte(`{}`))
	_, err = db.List(ctx, query.ListRequest{Limit: 1})
	if !errors.Is(err, schema.ErrDamaged) || !errors.Is(err, query.ErrStore) || !strings.Contains(err.Error(), "events/"+filepath.Base(events[0])) {
		t.Errorf("got %v", err)
	}
}

// TestPackedAlone: events that packs alone have, as in a compacted store of a bucket, count, and damage to a pack is an error.
func TestPackedAlone(t *testing.T) {
	t.Parallel()
	runs := querytest.VariousRuns()
	dir := querytest.NewStore(t)
	querytest.Seal(t, dir, runs...)
	querytest.SayMuch(t, dir, runs)
	valuetest.OK(t, os.RemoveAll(filepath.Join(dir, schema.EventsDir)))
	db := querytest.Open(t, dir)
	packs := valuetest.Must(filepath.Glob(dir + "/packs/events-*"))
	events := bytes.Count(valuetest.Must(os.ReadFile(packs[0])), []byte("\n"))
	valuetest.DeepEqual(t, []int64{valuetest.Must(db.Census(t.Context())).Events, int64(len(packs))}, []int64{int64(events), 1})
	l, err := db.List(t.Context(), query.ListRequest{Limit: 2})
	valuetest.DeepEqual(t, []any{err, l.Total}, []any{nil, 58})
	querytest.WriteFile(t, packs[0], append(valuetest.Must(os.ReadFile(packs[0])), "{}\n"...))
	_, err = db.List(t.Context(), query.ListRequest{Limit: 2})
	valuetest.ErrorIs(t, err, schema.ErrDamaged)
	valuetest.Fails(t, err, "packs/"+filepath.Base(packs[0]))
}

// TestDamagedSealed: every question names a truncated or missing sealed file; a damaged or missing pack is not used.
func TestDamagedSealed(t *testing.T) {
	t.Parallel()
	runs := querytest.VariousRuns()
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
		querytest.Seal(t, dir, runs[:30]...)
		bad := valuetest.Must(damage(t, dir, querytest.Seal(t, dir, runs[30:]...)))
		db := querytest.Open(t, dir)
		_, list := db.List(ctx, query.ListRequest{Limit: 1})
		_, filter := db.List(ctx, query.ListRequest{Filter: "status=ok"})
		_, points := db.SessionPoints(ctx, querytest.SessionID(1), nil)
		_, selected := sql.Select(ctx, db, "SELECT count(*) FROM runs")
		for question, err := range map[string]error{"list": list, "filter": filter, "points": points, "sql": selected} {
			if !errors.Is(err, schema.ErrDamaged) || !errors.Is(err, query.ErrStore) || !strings.Contains(err.Error(), bad) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %s: got %v", name, question, err)
			}
		}
	}
}

// TestSamplesGone: missing samples are reported for runs that have some, and only for those.
func TestSamplesGone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	failed := querytest.NewRun(3, 0, func(r *schema.Run) { r.Status = schema.StatusError })
	dir := querytest.NewStore(t)
	f := querytest.Seal(t, dir, failed)
	valuetest.OK(t, os.Remove(filepath.Join(dir, f.Path(schema.SamplesDir))))
	valuetest.DeepEqual(t, valuetest.Must(querytest.Open(t, dir).Show(ctx, failed.RunID)).Metrics, nil)
	good := querytest.NewRun(4, 1000, nil)
	f = querytest.Seal(t, dir, good)
	valuetest.OK(t, os.Remove(filepath.Join(dir, f.Path(schema.SamplesDir))))
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
	valuetest.Equal(t, fmt.Sprint(valuetest.Must(sql.Select(ctx, db, "SELECT count(*) FROM runs")).Rows), "[[2]]")
}

// TestPackGone: packs may be removed, or be damaged, at any time.
func TestPackGone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	runs := querytest.ManyRuns(200)
	dir := querytest.NewStore(t)
	var files []schema.SealedFile
	for few := range slices.Chunk(runs, 2) {
		files = append(files, querytest.Seal(t, dir, few...))
	}
	path := filepath.Join(dir, querytest.Pack(t, dir, files, runs...).Path(schema.PacksDir))
	db := querytest.Open(t, dir)
	count := func() {
		t.Helper()
		valuetest.Equal(t, valuetest.Must(db.List(ctx, query.ListRequest{Filter: "status=ok", Limit: 1})).Total, 200)
	}
	count()
	whole := valuetest.Must(os.ReadFile(path))
	valuetest.OK(t, os.Truncate(path, 3000))
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

// TestLargeRun: a run that does not fit in the small memory that questions usually have is read all the same.
func TestLargeRun(t *testing.T) {
	t.Parallel()
	if !querytest.Long() {
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
	querytest.Seal(t, dir, run)
	d := valuetest.Must(querytest.Open(t, dir).Show(context.Background(), run.RunID))
	values := d.Metrics[0].Values()
	if len(values) != n || values[n-1] != float64(n-1) {
		t.Errorf("%d values", len(values))
	}
}
