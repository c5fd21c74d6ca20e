//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// sparkQuestion is a question of the page about Spark, in words and in the SQL of Spark and of query.
type sparkQuestion struct{ title, spark, query string }

// questionsOf reads the questions of a page: headings of the third level with SQL below them, one text for both or one for each.
func questionsOf(t *testing.T, page string) []sparkQuestion {
	t.Helper()
	var all []sparkQuestion
	for _, section := range strings.Split(page, "\n### ")[1:] {
		title, _, _ := strings.Cut(section, "\n")
		section, _, _ = strings.Cut(section, "\n## ")
		texts := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(section, -1)
		switch len(texts) {
		case 0:
		case 1, 2:
			all = append(all, sparkQuestion{title, texts[0][1], texts[len(texts)-1][1]})
		default:
			t.Errorf("%s: %d texts, want one or two", title, len(texts))
		}
	}
	return all
}

// TestSparkAnswers: in a real Spark the views that store views prints have the rows that query has, all of them, and answer the
// questions of the page about Spark. The store has sealed and live runs, some of them both; runs that were removed and restored;
// tags that were set, changed and taken away later; events that a pack has, whose files Spark does not open; samples without runs; and a
// path that is a pattern.
func TestSparkAnswers(t *testing.T) {
	t.Parallel()
	programtest.NeedsLong(t)
	python := programtest.PythonWith(t, "pyspark", "pyspark")
	programtest.Needs(t, "pyspark", javaIsThere())
	dir := filepath.Join(t.TempDir(), "a [b] {c,d} * it's ${e};")
	valuetest.OK(t, os.MkdirAll(dir, 0o777))
	sparkStore(t, filepath.Join(dir, "runs_store"), false)
	packEvents(t, filepath.Join(dir, "runs_store"), 8)
	valuetest.OK(t, ingest.Init(filepath.Join(dir, "empty")))
	page := programtest.RepositoryFile(t, "docs/spark.md")
	questions := questionsAndViews(t, page)
	questions = append(questions, sparkQuestion{"num", numbers("explode(array(%s))"), numbers("unnest([%s])")})
	const rows = "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM samples) + (SELECT count(*) FROM samples_long) + (SELECT count(*) FROM ops) AS n"
	selected := filepath.Join(t.TempDir(), "selection")
	selection := strings.Split(strings.ReplaceAll(selectionOf(t, page, 0), "/data/selection", selected), ";\n")
	answers := sparkAnswers(t, python, sparkJob{dir: dir, load: loadOf(t, page), stores: []sparkStoreJob{
		{[]string{"--store", "runs_store"}, append(sparkTexts(questions), selection...)},
		{[]string{"--store", "empty"}, []string{rows, "SET spark.sql.legacy.storeAnalyzedPlanForView"}},
	}})
	checkSelection(t, dir, selected)
	answersOfQuery(t, dir, questions, answers[0])
	valuetest.DeepEqual(t, answers[1][0], []string{`{"n":0}`}, "the views of an empty store have rows")
	valuetest.Contains(t, answers[1][1][0], `"value":"false"`, "a setting of the session after loading")
}

// questionsAndViews returns the twelve questions of the page about Spark, and one for all rows of each view.
func questionsAndViews(t *testing.T, page string) []sparkQuestion {
	t.Helper()
	questions := questionsOf(t, page)
	valuetest.Equal(t, len(questions), 12, "the page")
	for _, view := range []string{"runs", "samples", "samples_long", "ops"} {
		text := "SELECT * FROM " + view
		questions = append(questions, sparkQuestion{"all rows of " + view, text, text})
	}
	return questions
}

// answersOfQuery checks that answers of Spark are those of query about the store of a directory.
func answersOfQuery(t *testing.T, dir string, questions []sparkQuestion, answers [][]string) {
	t.Helper()
	for i, q := range questions {
		got, want := answers[i], jsonRows(t, programtest.Output(t, dir, "query", "--format", "jsonl", q.query))
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: Spark has %d rows, query %d\n%s", q.title, len(got), len(want), programtest.FirstDifference(strings.Join(got, "\n"), strings.Join(want, "\n")))
		}
	}
}

// sparkJob is the Python that loads views, settings of the session beside the usual ones, and stores of a directory.
type sparkJob struct {
	dir, load string
	settings  map[string]string
	stores    []sparkStoreJob
}

// sparkStoreJob is a store, named by a flag of store views, and questions in the SQL of Spark.
type sparkStoreJob struct{ where, questions []string }

// loadOf returns the Python of the page that loads the views into a session of Spark.
func loadOf(t *testing.T, page string) string {
	t.Helper()
	found := regexp.MustCompile("(?s)```python\n(for .*?)```").FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the page has no Python")
	}
	return found[1]
}

func sparkTexts(questions []sparkQuestion) []string {
	texts := make([]string, len(questions))
	for i, q := range questions {
		texts[i] = q.spark
	}
	return texts
}

// numbers asks what num makes of texts, given how a row is made of each.
func numbers(rows string) string {
	return "SELECT x, num(x) AS n FROM (SELECT " + fmt.Sprintf(rows, `'64', '-1.5e3', '.5', '5.', '1e999', ' 1', '1 ', '1d', 'x', '', 'NaN', '0x1', '+2'`) + " AS x)"
}

// javaIsThere says why Spark cannot start, if so.
func javaIsThere() error {
	program := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		program = filepath.Join(home, "bin", "java")
	}
	printed, err := exec.Command(program, "-version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("Spark needs Java 17 or later: %w", err)
	}
	return javaIsRecent(string(printed))
}

// javaIsRecent says why Spark does not start with a Java, if so, given what java -version prints. Before 9, versions begin with 1.
func javaIsRecent(printed string) error {
	found := regexp.MustCompile(`version "(\d+)`).FindStringSubmatch(printed)
	if found == nil {
		return fmt.Errorf("Spark needs Java 17 or later: java -version prints %q", printed)
	}
	if major, err := strconv.Atoi(found[1]); err != nil || major < 17 {
		return fmt.Errorf("Spark needs Java 17 or later, java is %s", found[0])
	}
	return nil
}

// sparkAnswers returns the rows of each question, as JSON, by stores, of one session of Spark.
func sparkAnswers(t *testing.T, python string, job sparkJob) [][][]string {
	t.Helper()
	var stores []map[string]any
	for _, j := range job.stores {
		folder := t.TempDir()
		text := programtest.Output(t, job.dir, append([]string{"store", "views", "--dialect", "spark"}, j.where...)...)
		valuetest.OK(t, os.WriteFile(filepath.Join(folder, "views.sql"), []byte(text), 0o666))
		stores = append(stores, map[string]any{"folder": folder, "questions": j.questions})
	}
	text := valuetest.Must(json.Marshal(map[string]any{"load": job.load, "settings": job.settings, "stores": stores}))
	cmd := pythonScript(t, python, t.TempDir(), "spark.py")
	cmd.Stdin = bytes.NewReader(text)
	var rows [][][]json.RawMessage
	valuetest.OK(t, json.Unmarshal([]byte(ends(t, cmd)), &rows))
	answers := make([][][]string, len(rows))
	for i := range rows {
		answers[i] = answersIn(t, rows[i])
	}
	return answers
}

// answersIn returns the rows of each question.
func answersIn(t *testing.T, answers [][]json.RawMessage) [][]string {
	t.Helper()
	var all [][]string
	for _, rows := range answers {
		var lines strings.Builder
		for _, row := range rows {
			lines.Write(append(row, '\n'))
		}
		all = append(all, jsonRows(t, lines.String()))
	}
	return all
}

// selectionOf returns the SQL of the page that selects runs: the first is for Spark, the second for Trino.
func selectionOf(t *testing.T, page string, i int) string {
	t.Helper()
	_, section, _ := strings.Cut(page, "\n## Verdicts about a selection\n")
	section, _, _ = strings.Cut(section, "\n## ")
	texts := regexp.MustCompile("(?s)```sql\n(.*?)\n```").FindAllStringSubmatch(section, -1)
	valuetest.Equal(t, len(texts), 2, "texts of the page")
	return texts[i][1]
}

// checkSelection checks that a folder which an engine wrote becomes a store of the runs that were selected, with their ids and digests. Live runs
// are in no table, so they are left out.
func checkSelection(t *testing.T, dir, folder string) {
	t.Helper()
	into, sealed := filepath.Join(t.TempDir(), "into"), filepath.Join(t.TempDir(), "sealed")
	programtest.Output(t, dir, "--store", into, "ingest", "--from", "neurolens-parquet", folder)
	valuetest.OK(t, os.CopyFS(sealed, os.DirFS(filepath.Join(dir, "runs_store"))))
	valuetest.OK(t, errors.Join(os.RemoveAll(filepath.Join(sealed, "live")), os.RemoveAll(filepath.Join(sealed, "claims"))))
	listed := func(store string, filter ...string) []string {
		args := append([]string{"--store", store, "ls", "--limit", "0", "--format", "plain", "--columns", "run_id,digest,p50"}, filter...)
		return strings.Split(strings.TrimSpace(programtest.Output(t, dir, args...)), "\n")
	}
	got, want := listed(into), listed(sealed, "batch_size=4", "status=ok")
	if len(got) < 2 || !slices.Equal(got, want) {
		t.Errorf("the selection has %q, want %q", got, want)
	}
}

// jsonRows returns lines of JSON in one spelling. Where a line has a run's id the order does not matter: of whole views it is not said.
func jsonRows(t *testing.T, lines string) []string {
	t.Helper()
	var all []string
	whole := false
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		if line == "" {
			continue
		}
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var row map[string]any
		valuetest.OK(t, d.Decode(&row), line)
		_, whole = row["run_id"]
		text := valuetest.Must(json.Marshal(spelled(row)))
		all = append(all, string(text))
	}
	if whole {
		slices.Sort(all)
	}
	return all
}

// spelled returns a value of JSON with numbers in one spelling: 1.0 is 1.
func spelled(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, one := range v {
			v[key] = spelled(one)
		}
	case []any:
		for i, one := range v {
			v[i] = spelled(one)
		}
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return v
		}
		if x, err := v.Float64(); err == nil {
			return json.Number(strconv.FormatFloat(x, 'f', -1, 64))
		}
	}
	return value
}

// sparkStore makes the store of TestSparkAnswers, or one of the same runs that has sealed ones alone.
func sparkStore(t *testing.T, path string, sealed bool) {
	t.Helper()
	random, at := rand.New(rand.NewPCG(1, 2)), time.Date(2026, 2, 1, 0, 0, 0, 123_456_000, time.UTC)
	session, env := schema.NewULID(at).String(), schema.Env{Facts: map[string]string{"os.name": "linux"}, Missing: map[string]string{"gpu": "absent"}}
	var runs []schema.Run
	for i := range 28 {
		r := programtest.MadeUpRun(random, at.Add(time.Duration(i)*time.Minute), session, env, i%20, 20)
		switch i % 7 {
		case 3:
			r.Status, r.Stage, r.Error = schema.StatusTimeout, schema.StageMeasure, "it took\ntoo long"
		case 4:
			r.Warnings = []string{stat.WarnDrift, "noisy"}[:1+i%2]
		case 5:
			r.Ops = []schema.Op{
				{Index: 0, Name: "MatMul", Type: "MatMul", DurationNS: new(int64(1000 * i)), Count: new(int64(i)), Kernels: []string{"k"}},
				{Index: 1, Name: "Gelu", Type: "Gelu", DurationNS: new(int64(333)), Count: new(int64(1)), Counters: map[string]float64{"l2": .5}},
			}
		}
		runs = append(runs, r)
	}
	runs = append(runs, runtest.Full(), runtest.Small())
	first, live := slices.Concat(runs[:20], runs[28:29]), slices.Concat(runs[20:28], runs[29:])
	store := programtest.OpenStore(t, path, first...)
	if n, err := store.Seal(context.Background()); n != len(first) || err != nil { // in the claim these are live as well
		t.Fatalf("sealed %d runs: %v", n, err)
	}
	copyOfSamples(t, path)
	for _, r := range live[:7] { // fewer than are sealed when a writer ends
		valuetest.OK(t, store.Append(r))
	}
	liveTwice(t, path)
	if sealed {
		valuetest.Equal(t, valuetest.Must(store.Seal(context.Background())), 7, "sealed")
	}
	id := func(i int) string { return runs[i].RunID }
	for _, a := range []ingest.Annotation{
		{Kind: schema.EventRemove, Runs: []string{id(0), id(1), id(2), id(20), id(21)}},
		{Kind: schema.EventRestore, Runs: []string{id(1), id(21)}},
		{Kind: schema.EventTag, Runs: []string{id(3), id(4), id(22), id(28)}, Key: "cooling", Value: "air"},
		{Kind: schema.EventTag, Runs: []string{id(3), id(23)}, Key: "cooling", Value: "wa't\\er\n\u2028ü"},
		{Kind: schema.EventUntag, Runs: []string{id(4)}, Key: "cooling"},
		{Kind: schema.EventUntag, Runs: []string{id(5), id(24)}, Key: "note"},
		{Kind: schema.EventTag, Runs: []string{id(6)}, Key: "note", Value: ""},
		{Kind: schema.EventLost, Runs: []string{id(7), id(8)}, Key: "samples", Value: "damaged"},
		{Kind: schema.EventFound, Runs: []string{id(8)}, Key: "samples"},
		{Kind: schema.EventNote, Runs: []string{id(9)}, Value: "the window was open"},
		{Kind: schema.EventBless, Key: "release", Runs: []string{id(9)}},
	} {
		valuetest.Must(store.Annotate(a))
	}
	valuetest.OK(t, store.Close())
}

// packEvents packs the first events, and makes their files unreadable.
func packEvents(t *testing.T, path string, n int) {
	t.Helper()
	files := valuetest.Must(fs.Glob(os.DirFS(path), schema.EventsDir+"/*.json"))
	var pack []byte
	for _, file := range files[:n] {
		file = filepath.Join(path, file)
		pack = append(pack, valuetest.Must(os.ReadFile(file))...)
		valuetest.OK(t, os.WriteFile(file, []byte("{"), 0o666))
	}
	name := filepath.Join(path, schema.PackedEvents(schema.NewULID(time.Now())))
	valuetest.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
	valuetest.OK(t, os.WriteFile(name, pack, 0o666))
}

// liveTwice has a live run in a claim as well, as it is for a moment when what a claim does not seal is given back.
func liveTwice(t *testing.T, path string) {
	t.Helper()
	found, err := fs.Glob(os.DirFS(path), "live/*/*.parquet")
	if err != nil || len(found) == 0 {
		t.Fatalf("live files %q: %v", found, err)
	}
	content := valuetest.Must(os.ReadFile(filepath.Join(path, found[0])))
	segment := filepath.Join(path, "claims", schema.NewULID(time.Now()).String()+".0", schema.NewULID(time.Now()).String())
	valuetest.OK(t, os.MkdirAll(segment, 0o777))
	valuetest.OK(t, os.WriteFile(filepath.Join(segment, filepath.Base(found[0])), content, 0o666))
}

// copyOfSamples leaves samples and ops whose name no file of runs has, as an import that was interrupted does.
func copyOfSamples(t *testing.T, path string) {
	t.Helper()
	for _, zone := range []string{schema.SamplesDir, schema.OpsDir} {
		found := valuetest.Must(fs.Glob(os.DirFS(path), zone+"/*/*.parquet"))
		valuetest.Equal(t, len(found), 1, zone, "has files", found)
		file := filepath.Join(path, found[0])
		content := valuetest.Must(os.ReadFile(file))
		name := schema.NewULID(time.Now()).String() + filepath.Base(file)[26:]
		valuetest.OK(t, os.WriteFile(filepath.Join(filepath.Dir(file), name), content, 0o666))
	}
}
