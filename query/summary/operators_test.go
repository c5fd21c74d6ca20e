package summary_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// profiled returns a store with one run that has operators, one of which has no duration, and another run.
func profiled(t *testing.T) (dir string, run schema.Run) {
	t.Helper()
	n := 0
	runs := querytest.RunsOf(&n, 1, func(r *schema.Run) {}, 10, 20)
	runs[0].Purpose = schema.PurposeProfile
	runs[0].Ops = []schema.Op{
		{Index: 0, Name: "embed", Type: "Gather", Device: "cpu", DurationNS: new(int64(100)), Count: new(int64(2))},
		{Index: 1, Name: "attend", Type: "MatMul", Device: "cuda", DurationNS: new(int64(300)), Count: new(int64(1)), Kernels: []string{"gemm", "splitk"}},
		{Index: 2, Name: "view", Type: "Reshape"},
	}
	runs[1].Ops = []schema.Op{{Index: 0, Name: "other", DurationNS: new(int64(5000))}}
	return querytest.NewStore(t, runs...), runs[0]
}

func TestOf(t *testing.T) {
	dir, run := profiled(t)
	db := querytest.Open(t, dir)
	names := func(sort string) string {
		all := valuetest.Must(summary.Operators(context.Background(), db, &run, sort))
		var words []string
		for _, o := range all {
			share := "-"
			if o.Share != nil {
				share = fmt.Sprint(*o.Share)
			}
			words = append(words, o.Name+" "+share)
		}
		return strings.Join(words, ", ")
	}
	for sort, want := range map[string]string{
		"":          "attend 0.75, embed 0.25, view -",
		"-duration": "attend 0.75, embed 0.25, view -",
		"duration":  "embed 0.25, attend 0.75, view -", // what has no value is last
		"op":        "embed 0.25, attend 0.75, view -",
		"-op":       "view -, attend 0.75, embed 0.25",
		"count":     "attend 0.75, embed 0.25, view -",
		"-name":     "view -, embed 0.25, attend 0.75",
	} {
		if got := names(sort); got != want {
			t.Errorf("%q: got %s, want %s", sort, got, want)
		}
	}
	all, err := summary.Operators(context.Background(), db, &run, "op")
	if err != nil || *all[1].Kernels != 2 || all[1].Device != "cuda" || all[2].Count != nil {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := summary.Operators(context.Background(), db, &run, "size"); err == nil || !strings.Contains(err.Error(), `--sort "size": want one of op name type device count duration`) {
		t.Error(err)
	}
}
