package benchmarks

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/schema"
)

// grid is a store of two sessions of the same points, repeat by repeat: what compare is for.
type grid struct {
	points, runs, samples int
}

// Sizes of a grid's sealed files, and how long a run takes.
const (
	gridFile = 122_880
	gridStep = time.Millisecond
)

// gridOf gives the directory of such a store, which it makes where it is not there.
func gridOf(tb testing.TB, g grid) string {
	tb.Helper()
	return made(tb, fmt.Sprintf("grid-%dx%dx%d", g.points, g.runs, g.samples), g.write)
}

func (g grid) write(dir string) error {
	if err := ingest.Init(dir); err != nil {
		return err
	}
	for session := range 2 {
		if err := g.session(dir, session); err != nil {
			return err
		}
	}
	store, err := ingest.Open(dir, "scale")
	if err != nil {
		return err
	}
	return errors.Join(store.Pack(), store.Close())
}

// gridStart returns when a session began.
func gridStart(session int) time.Time {
	return time.Date(2026, 3, 1+session, 8, 0, 0, 0, time.UTC)
}

// session writes the runs of one session in sealed files.
func (g grid) session(dir string, session int) error {
	start := gridStart(session)
	id := schema.ULIDFrom(start, [10]byte{byte(session)}).String()
	random := rand.New(rand.NewPCG(uint64(session), 7))
	for first := 0; first < g.points*g.runs; first += gridFile {
		runs := make([]schema.Run, min(gridFile, g.points*g.runs-first))
		ids := make([]schema.ULID, len(runs))
		for i := range runs {
			n := first + i
			runs[i] = g.run(random, n%g.points, n/g.points, start)
			runs[i].SessionID = id
			ids[i], _ = schema.ParseULID(runs[i].RunID)
		}
		hash := sha256.Sum256(fmt.Append(nil, session, first))
		out, err := newSealed(dir, schema.NewSealedFile(schema.ULIDFrom(ids[len(ids)-1].Time(), [10]byte(hash[:])), ids))
		if err != nil {
			return err
		}
		for i := range runs {
			if err := out.write(&runs[i]); err != nil {
				return err
			}
		}
		if err := out.close(); err != nil {
			return err
		}
	}
	return nil
}

// run returns a run of a point: it lasts 0.1 to 10 ms, runs differ by 1 %, samples by 3 %.
func (g grid) run(random *rand.Rand, point, repeat int, start time.Time) schema.Run {
	at := start.Add(time.Duration(repeat*g.points+point) * gridStep)
	location := math.Log(1e5) + math.Log(100)*float64(point)/float64(g.points) + .01*random.NormFloat64()
	ticks := make([]int64, g.samples)
	for i := range ticks {
		ticks[i] = int64(math.Exp(location + .03*random.NormFloat64()))
	}
	var entropy [10]byte
	for i := range entropy {
		entropy[i] = byte(random.Uint32())
	}
	r := schema.Run{
		RunID: schema.ULIDFrom(at, entropy).String(), StartedAt: at, TimeSource: schema.TimeClock,
		RepeatIndex: new(int64(repeat)), BlockIndex: new(int64(repeat*g.points + point)), PositionIndex: new(int64(0)),
		Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens, Status: schema.StatusOK,
		Suite: "grid", Benchmark: "kernel", Backend: "cuda", Precision: "fp16", BatchSize: new(int64(1 << (point % 8))),
		Params: map[string]string{"tile": strconv.Itoa(point / 8 % 100), "case": strconv.Itoa(point / 800)},
		Env:    schema.Env{Machine: "lab3", Hostname: "lab3", GitCommit: "9f3c1d2"}, Primary: schema.PrimaryMetric,
		Metrics: []schema.Metric{{
			Name: schema.PrimaryMetric, Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 1, Ticks: ticks,
		}},
	}
	r.PointID = schema.PointID(&r)
	return r
}
