package judge_test

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// run is one run of a point: its samples in the order they were taken, and the median of their logarithms.
type run struct {
	samples  []float64
	location float64
}

func newRun(samples []float64) run {
	sorted := slices.Sorted(slices.Values(samples))
	n := len(sorted)
	return run{samples: samples, location: (math.Log(sorted[(n-1)/2]) + math.Log(sorted[n/2])) / 2}
}

// point is one point of a comparison: the runs of both sides, of which the head's take factor times as long as they did.
type point struct {
	base, head []run
	factor     float64
	blocked    bool // the k-th runs of both sides ran next to one another
	ordered    bool // all runs of the base came before those of the head, in one session
	confounded bool // the sides are of different sessions
	history    []float64
}

// pair returns what a comparison judges of the point.
func (p *point) pair() judge.Pair {
	pair := judge.Pair{Lower: true, Margin: math.Log(1.02), Ordered: p.ordered, Confounded: p.confounded, History: p.history}
	for _, r := range p.base {
		pair.Base = append(pair.Base, r.location)
	}
	for i, r := range p.head {
		location := r.location + math.Log(p.factor)
		pair.Head = append(pair.Head, location)
		if p.blocked {
			pair.Blocks = append(pair.Blocks, location-p.base[i].location)
		}
	}
	return pair
}

// dataSet draws whole comparisons between sides that do not differ.
type dataSet struct {
	name   string
	sweeps int
	peers  int // sweeps that the rules of others are asked of: they are wrong so often that few are enough
	draw   func(random *rand.Rand) []point
}

// injected is by how much a tenth of the points take longer where something did change.
const injected = 1.05

// inject makes a tenth of the points slower.
func inject(random *rand.Rand, sweep []point) {
	for _, i := range random.Perm(len(sweep))[:len(sweep)/10] {
		sweep[i].factor = injected
	}
}

// split draws n runs a side of every point of a pool, at random.
func split(pool [][]run, n int) func(random *rand.Rand) []point {
	return func(random *rand.Rand) []point {
		sweep := make([]point, len(pool))
		for i, runs := range pool {
			var drawn []run
			for _, k := range random.Perm(len(runs))[:2*n] {
				drawn = append(drawn, runs[k])
			}
			sweep[i] = point{base: drawn[:n], head: drawn[n:], factor: 1}
		}
		return sweep
	}
}

// neighbours gives of every two runs of a point that followed one another one to each side, at random.
func neighbours(pool [][]run) func(random *rand.Rand) []point {
	return func(random *rand.Rand) []point {
		sweep := make([]point, len(pool))
		for i, runs := range pool {
			p := point{factor: 1, blocked: true}
			for k := 0; k+1 < len(runs); k += 2 {
				base := k + random.IntN(2)
				p.base, p.head = append(p.base, runs[base]), append(p.head, runs[2*k+1-base])
			}
			sweep[i] = p
		}
		return sweep
	}
}

// jmhPool returns 331 benchmarks of Java projects that reached a steady state, 10 processes each, 50 iterations a process
// (Traini, Cortellessa, Di Pompeo and Tucci, "Towards effective assessment of steady state performance in Java software",
// Empirical Software Engineering 28, 2023).
func jmhPool(t *testing.T) [][]run {
	t.Helper()
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder with the runs of Java benchmarks, is not set")
	}
	file := valuetest.Must(os.Open(filepath.Join(samples, "stats_jmh_aa", "aa_pool_331x10x50.csv.gz")))
	defer file.Close()
	text := valuetest.Must(gzip.NewReader(file))
	values := make([][][]float64, 331)
	for _, row := range rowsOf(t, text) {
		bench, fork := whole(t, row[0]), whole(t, row[1])
		for len(values[bench]) <= fork {
			values[bench] = append(values[bench], nil)
		}
		values[bench][fork] = append(values[bench][fork], number(t, row[3]))
	}
	return pool(values)
}

// ownPool returns the 30 points of fixtures/aa, 20 runs each, 30 iterations a run, in the order in which they ran.
func ownPool(t *testing.T) [][]run {
	t.Helper()
	file := valuetest.Must(os.Open(filepath.Join("..", "..", "fixtures", "aa", "aa.csv")))
	defer file.Close()
	rows := rowsOf(t, file)
	slices.SortFunc(rows, func(a, b []string) int { return cmp.Compare(whole(t, a[4]), whole(t, b[4])) })
	values := make([][][]float64, 30)
	for _, row := range rows {
		var samples []float64
		for field := range strings.FieldsSeq(row[5]) {
			samples = append(samples, number(t, field))
		}
		of := whole(t, row[0]) - 1
		values[of] = append(values[of], samples)
	}
	return pool(values)
}

func pool(values [][][]float64) [][]run {
	points := make([][]run, len(values))
	for i, runs := range values {
		for _, samples := range runs {
			points[i] = append(points[i], newRun(samples))
		}
	}
	return points
}

// rowsOf returns the rows of a table without its header.
func rowsOf(t *testing.T, text io.Reader) [][]string {
	t.Helper()
	rows := valuetest.Must(csv.NewReader(text).ReadAll())
	return rows[1:]
}

func whole(t *testing.T, field string) int {
	t.Helper()
	n := valuetest.Must(strconv.Atoi(field))
	return n
}

func number(t *testing.T, field string) float64 {
	t.Helper()
	v := valuetest.Must(strconv.ParseFloat(field, 64))
	return v
}
