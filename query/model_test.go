package query_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// predicate is a filter with what it means, written a second time over runs in memory.
type predicate struct {
	text  string
	holds func(*schema.Run) bool
}

var (
	modelDims  = []string{"64", "128", "1000", "-0.5", "x", "nan", "inf", "1_000", " 7 ", "007", "1e400", "", "true", "[1,2]", "0", "1.0", "null"}
	modelTexts = []string{"quick start", "a", "b\nc", "Ünï", "570.86", "600", "null"}
)

// modelRuns returns runs whose columns take few values, NULL among them, so that random filters tell them apart.
func modelRuns(random *rand.Rand, n int) []schema.Run {
	runs := make([]schema.Run, n)
	maybe := func() bool { return random.IntN(4) > 0 }
	for i := range runs {
		runs[i] = querytest.NewRun(i, int64(100_000*(1+random.IntN(4))), func(r *schema.Run) {
			r.BatchSize, r.SeqLen, r.Suite, r.Params, r.Tags = nil, nil, "", nil, nil
			if maybe() {
				r.BatchSize = new(int64(random.IntN(4)))
			}
			if maybe() {
				r.Suite = modelTexts[random.IntN(len(modelTexts))]
			}
			if maybe() {
				r.Params = map[string]string{"mode": "fast"}
				if maybe() {
					r.Params["dim"] = modelDims[random.IntN(len(modelDims))]
				}
			}
			if maybe() {
				r.Env.GitDirty = new(random.IntN(2) == 0)
			}
			if maybe() {
				r.Precision = []string{"fp32", "fp16"}[random.IntN(2)]
			} else {
				r.Precision = ""
			}
			if maybe() {
				r.Warnings = [][]string{{}, {"drift"}, {"drift", "throttled"}}[random.IntN(3)]
			}
			switch random.IntN(4) {
			case 0:
				r.Status = schema.StatusTimeout
			case 1:
				m := schema.Metric{Name: "peak_memory", Unit: "B", Level: schema.LevelProcess, Tick: 1, Ticks: []int64{100_000, 200_000}}
				m.Summary = stat.Summarize(m.Values())
				r.Metrics, r.Primary = []schema.Metric{m}, m.Name
			}
		})
	}
	return runs
}

func modelSummary(r *schema.Run) (unit string, s schema.Summary) {
	if m := r.Metric(r.Primary); m != nil {
		return m.Unit, m.Summary
	}
	return "", schema.Summary{}
}

func compared(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	default:
		return c == 0
	}
}

func order(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

var orders = []string{"<", "<=", ">", ">="}

func pick[T any](random *rand.Rand, all []T) T { return all[random.IntN(len(all))] }

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// modelNumber reads what num(x) reads.
func modelNumber(s string) (float64, bool) {
	if !regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`).MatchString(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// leaf makes a random word.
func leaf(random *rand.Rand) predicate {
	switch random.IntN(10) {
	case 0:
		return leafInteger(random)
	case 1:
		return leafUnit(random)
	case 2:
		return leafText(random)
	case 3:
		return leafParameter(random)
	case 4:
		op, n := pick(random, orders), pick(random, []float64{0, 64, 100, -1, 128.5})
		return predicate{fmt.Sprintf("dim%s%v", op, n), func(r *schema.Run) bool {
			f, ok := modelNumber(r.Params["dim"])
			return ok && compared(op, order(f, n))
		}}
	case 5:
		word := pick(random, []string{"drift", "throttled", "none"})
		return predicate{"warnings=" + word, func(r *schema.Run) bool { return slices.Contains(r.Warnings, word) }}
	case 6:
		op, at := pick(random, orders), querytest.Start.Add(time.Duration(random.IntN(60))*time.Second)
		return predicate{"started_at" + op + at.Format(time.RFC3339Nano), func(r *schema.Run) bool { return compared(op, r.StartedAt.Compare(at)) }}
	case 8:
		return leafMetric(random)
	case 7:
		word := pick(random, []string{"true", "false"})
		return predicate{"git_dirty=" + word, func(r *schema.Run) bool { return r.Env.GitDirty != nil && fmt.Sprint(*r.Env.GitDirty) == word }}
	default:
		word := pick(random, []string{"fp32", "float32", "half", `"fp32"`, "FP16"})
		want := map[string]string{"fp32": "fp32", "float32": "fp32", "half": "fp16", `"fp32"`: "fp32", "FP16": "fp16"}[word]
		return predicate{"dtype=" + word, func(r *schema.Run) bool { return r.Precision == want }}
	}
}

func leafInteger(random *rand.Rand) predicate {
	switch random.IntN(4) {
	case 3:
		a, b := random.IntN(3), random.IntN(3)+2
		return predicate{fmt.Sprintf("bs=%d..%d,9..", a, b), func(r *schema.Run) bool {
			return r.BatchSize != nil && *r.BatchSize >= int64(a) && *r.BatchSize <= int64(b)
		}}
	case 0:
		return predicate{"bs=null", func(r *schema.Run) bool { return r.BatchSize == nil }}
	case 1:
		a, b := random.IntN(5), random.IntN(5)
		return predicate{fmt.Sprintf("batch_size!=%d,%d", a, b), func(r *schema.Run) bool {
			return r.BatchSize == nil || *r.BatchSize != int64(a) && *r.BatchSize != int64(b)
		}}
	default:
		op, n := pick(random, append([]string{"="}, orders...)), pick(random, []float64{0, 1, 2, 2.5, 1e3, -1, 1.5})
		return predicate{fmt.Sprintf("batch%s%v", op, n), func(r *schema.Run) bool {
			return r.BatchSize != nil && compared(op, order(float64(*r.BatchSize), n))
		}}
	}
}

func leafUnit(random *rand.Rand) predicate {
	op, n := pick(random, orders), pick(random, []float64{100, 200, 300, 201.008})
	unit := pick(random, []string{"us", "kB"})
	stored := map[string]string{"us": "ns", "kB": "B"}[unit]
	return predicate{fmt.Sprintf("p50%s%v%s", op, n, unit), func(r *schema.Run) bool {
		u, s := modelSummary(r)
		return u == stored && s.P50 != nil && compared(op, order(*s.P50, n*1000))
	}}
}

// leafMetric returns a word about a metric, primary or not.
func leafMetric(random *rand.Rand) predicate {
	metric, unit := "latency", "us"
	if random.IntN(2) == 0 {
		metric, unit = "peak_memory", "kB"
	}
	op, n := pick(random, orders), pick(random, []float64{100, 200, 300, 201.008})
	value := func(r *schema.Run) (float64, bool) {
		m := r.Metric(metric)
		if m == nil || m.Summary.P50 == nil {
			return 0, false
		}
		return *m.Summary.P50, true
	}
	switch random.IntN(4) {
	case 0:
		return predicate{"metric." + metric + "=null", func(r *schema.Run) bool { _, ok := value(r); return !ok }}
	case 1:
		return predicate{fmt.Sprintf("%s.p50=..%v%s", metric, n, unit), func(r *schema.Run) bool { v, ok := value(r); return ok && v <= n*1000 }}
	}
	return predicate{fmt.Sprintf("%s%s%v%s", metric, op, n, unit), func(r *schema.Run) bool {
		v, ok := value(r)
		return ok && compared(op, order(v, n*1000))
	}}
}

func leafText(random *rand.Rand) predicate {
	text := pick(random, modelTexts)
	switch random.IntN(5) {
	case 0:
		return predicate{"suite=null", func(r *schema.Run) bool { return r.Suite == "" }}
	case 1:
		pattern := pick(random, []string{"^a$", "[a-z]+ s", `\d+\.\d`, "(?i)Q", ".c", "b.c", "", "ï|a", `(a)|(b\n)`})
		return predicate{"suite~" + quoted(pattern), func(r *schema.Run) bool {
			return r.Suite != "" && regexp.MustCompile(pattern).MatchString(r.Suite)
		}}
	case 2:
		return predicate{"suite>=580", func(r *schema.Run) bool { f, ok := modelNumber(r.Suite); return ok && f >= 580 }}
	default:
		return predicate{"suite=" + quoted(text) + `,"zz"`, func(r *schema.Run) bool { return r.Suite == text }}
	}
}

func leafParameter(random *rand.Rand) predicate {
	dim := func(r *schema.Run) (string, bool) { v, ok := r.Params["dim"]; return v, ok }
	switch random.IntN(5) {
	case 0:
		return predicate{"param.dim=null", func(r *schema.Run) bool { _, ok := dim(r); return !ok }}
	case 1:
		text := pick(random, modelDims)
		return predicate{"dim=" + quoted(text), func(r *schema.Run) bool { v, ok := dim(r); return ok && v == text }}
	case 2:
		return predicate{"dim=1e3,64.0", func(r *schema.Run) bool {
			v, ok := dim(r)
			return ok && slices.Contains([]string{"1e3", "1000", "64.0", "64"}, v)
		}}
	case 3:
		return predicate{"dim=[1.0,2]", func(r *schema.Run) bool { v, _ := dim(r); return v == "[1,2]" || v == "[1.0,2]" }}
	default:
		return predicate{"dim!~^[0-9]+$", func(r *schema.Run) bool {
			v, ok := dim(r)
			return !ok || !regexp.MustCompile("^[0-9]+$").MatchString(v)
		}}
	}
}

// randomPredicate joins random words.
func randomPredicate(random *rand.Rand, depth int) predicate {
	if depth == 0 || random.IntN(3) == 0 {
		return leaf(random)
	}
	a, b := randomPredicate(random, depth-1), randomPredicate(random, depth-1)
	switch random.IntN(3) {
	case 0:
		return predicate{"not (" + a.text + ")", func(r *schema.Run) bool { return !a.holds(r) }}
	case 1:
		return predicate{"(" + a.text + " or " + b.text + ")", func(r *schema.Run) bool { return a.holds(r) || b.holds(r) }}
	default:
		return predicate{"(" + a.text + " " + b.text + ")", func(r *schema.Run) bool { return a.holds(r) && b.holds(r) }}
	}
}

// TestFilterModel compares random filters over stored runs with the same filters over the runs in memory, and checks
// that a filter and its negation share out all runs.
func TestFilterModel(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	runs := modelRuns(random, 40)
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	tries := 40
	if querytest.Long() {
		tries = 100
	}
	nothing := 0
	for range tries {
		p := randomPredicate(random, 3)
		var want, rest []int
		for i := len(runs) - 1; i >= 0; i-- {
			if p.holds(&runs[i]) {
				want = append(want, i)
			} else {
				rest = append(rest, i)
			}
		}
		if len(want) == 0 {
			nothing++
		}
		valuetest.DeepEqual(t, querytest.IDs(t, db, query.ListRequest{Filter: p.text}), want, p.text)
		valuetest.DeepEqual(t, querytest.IDs(t, db, query.ListRequest{Filter: "not (" + p.text + ")"}), rest, p.text)
	}
	if nothing > tries*6/10 {
		t.Errorf("%d of %d filters match nothing: they test too little", nothing, tries)
	}
}

// TestNotNumbers: values that an ordering cannot use do not match and are counted once, those of runs that the rest of the
// filter leaves out are not.
func TestNotNumbers(t *testing.T) {
	t.Parallel()
	dims := []string{"64", "x", "1e3", "nan", "12ms", " 7"}
	var runs []schema.Run
	for i, dim := range dims {
		runs = append(runs, querytest.NewRun(i, 1000, func(r *schema.Run) {
			r.Params, r.Variant = map[string]string{"dim": dim, "tile": dims[len(dims)-1-i]}, []string{"a", "b"}[i%2]
		}))
	}
	runs = append(runs, querytest.NewRun(len(dims), 1000, func(r *schema.Run) { r.Params = nil }))
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	for _, c := range []struct {
		req   query.ListRequest
		total int
		want  map[string]int
	}{
		{query.ListRequest{Filter: "dim>=100 status=ok"}, 1, map[string]int{"dim": 4}},
		{query.ListRequest{Filter: "dim>=100 variant=b"}, 0, map[string]int{"dim": 3}},
		{query.ListRequest{Filter: "variant=none dim>=100"}, 0, map[string]int{}},
		{query.ListRequest{Filter: "dim>=100 dim<=2000"}, 1, map[string]int{"dim": 4}},
		{query.ListRequest{Filter: "(variant=a or dim<70) (status=crashed or dim>=100)"}, 1, map[string]int{"dim": 4}},
		{query.ListRequest{Filter: "dim>=64 tile<=64"}, 0, map[string]int{"dim": 3, "tile": 4}},
		{query.ListRequest{Filter: "(variant=a dim>=100) or (variant=b dim<100)"}, 1, map[string]int{"dim": 4}},
		{query.ListRequest{Filter: "not dim>=100 variant=b"}, 3, map[string]int{"dim": 3}},
		{query.ListRequest{Filter: "dim>=100", Until: runs[2].StartedAt}, 0, map[string]int{"dim": 1}},
		{query.ListRequest{Filter: "dim>=100 variant=a", Sort: []string{"dim"}}, 1, map[string]int{"dim": 1}},
	} {
		for _, c.req.Limit = range []int{0, 10} {
			l := valuetest.Must(db.List(context.Background(), c.req))
			valuetest.Equal(t, l.Total, c.total, c.req)
			valuetest.DeepEqual(t, l.NotNumbers, c.want, c.req)
		}
		g, _ := groups(t, db, query.GroupRequest{Filter: c.req.Filter, Until: c.req.Until, By: []string{"variant"}})
		valuetest.Equal(t, g.Runs, c.total, "groups of", c.req.Filter)
		valuetest.DeepEqual(t, g.NotNumbers, c.want, "groups of", c.req.Filter)
	}
}
