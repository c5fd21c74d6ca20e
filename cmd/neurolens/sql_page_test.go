package main

import (
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// TestSQLPage: every example of the page about SQL has an answer, in a store of a sweep in which a run failed and one was profiled.
func TestSQLPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var runs []schema.Run
	random, at := rand.New(rand.NewPCG(1, 2)), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	env := schema.Env{Facts: map[string]string{"os.name": "linux"}}
	for i := range 8 {
		r := programtest.MadeUpRun(random, at.Add(time.Duration(i)*time.Second), schema.NewULID(at).String(), env, i, 20)
		switch i {
		case 6:
			r.Status, r.Stage, r.Error = schema.StatusTimeout, schema.StageMeasure, "it took too long"
		case 7:
			r.Warnings = []string{stat.WarnDrift}
			r.Ops = []schema.Op{{Name: "MatMul", DurationNS: new(int64(1000)), Count: new(int64(1))}}
		}
		runs = append(runs, r)
	}
	programtest.NewStore(t, filepath.Join(dir, "runs_store"), runs...)
	examples := regexp.MustCompile(`neurolens query "([^"]+)"`).FindAllStringSubmatch(programtest.RepositoryFile(t, "docs/sql.md"), -1)
	for _, example := range examples {
		if got := rows(t, dir, example[1]); got == "" {
			t.Errorf("%s: no rows", example[0])
		}
	}
	if len(examples) < 10 {
		t.Errorf("the page has %d examples", len(examples))
	}
}
