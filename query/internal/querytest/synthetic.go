package querytest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// Synthetic describes a synthetic store.
type Synthetic struct {
	Runs    int // half a minute apart
	PerFile int // runs in a sealed file, which are a session
	Samples int // of each run
	Packs   int // packs that cover all files; 0: none
	Events  int // files of events; most of them are packed too if there are packs
}

// SyntheticRun returns the run n of a synthetic store: points of 5 batch sizes, 3 dims and 2 precisions.
func SyntheticRun(s Synthetic, n int) schema.Run {
	random := rand.New(rand.NewPCG(7, uint64(n)))
	at := Start.Add(-365 * 24 * time.Hour).Add(time.Duration(n) * 30 * time.Second)
	r := schema.Run{
		RunID:     schema.ULIDFrom(at, [10]byte{0: byte(random.Uint32()), 1: byte(random.Uint32()), 7: byte(n >> 16), 8: byte(n >> 8), 9: byte(n)}).String(),
		SessionID: schema.ULIDFrom(Start.Add(-365*24*time.Hour).Add(time.Duration(n/s.PerFile*s.PerFile)*30*time.Second), [10]byte{9: 1}).String(),
		Purpose:   schema.PurposeMeasure, Source: schema.SourceNeuroLens, Suite: "quickstart", Benchmark: "tiny_linear", Variant: "plain",
		Executor: schema.ExecutorBuiltin, Backend: "builtin", BackendVersion: "1.2.3", Model: "builtin:tiny_linear",
		Precision: []string{"fp32", "bf16"}[n%2], BatchSize: new(int64(1 << (n % 5))), SeqLen: new(int64(64)),
		Params: map[string]string{"dim": fmt.Sprint(64 << (n % 3))}, Tags: map[string]string{"who": "me"},
		StartedAt: at, TimeSource: schema.TimeClock, Status: schema.StatusOK, RepeatIndex: new(int64(n % 6)),
		Stages: schema.Stages{Setup: new(int64(5e6)), Warmup: new(int64(9e6)), Measure: new(int64(9e8) + random.Int64N(1e6))},
		Env: schema.Env{
			HostID: "0123456789abcdef", Machine: "lab3", Hostname: "lab3", OS: "Debian 13", OSKernel: "6.12.1", CPUModel: "Some CPU @ 3.0 GHz",
			CPUCount: new(int64(16)), MemoryBytes: new(int64(16 << 30)), GitCommit: hex.EncodeToString(fmt.Append(nil, n/1000)), GitBranch: "main",
			Facts: map[string]string{"governor": "performance", "turbo": "on", "kernel": "6.12.1", "libc": "2.41"},
		},
	}
	m := schema.Metric{Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 1, Ticks: SyntheticTicks(random, s.Samples)}
	m.Summary = stat.Summarize(m.Values())
	r.Metrics, r.Primary = []schema.Metric{m}, "latency"
	r.PointID = schema.PointID(&r)
	return r
}

// SyntheticTicks returns latencies in ns that resemble measured ones: medians of 0.13 to 54 ms, sigma 1 to 12 %, a slow drift, and
// spikes in 0.5 % of them.
func SyntheticTicks(random *rand.Rand, n int) []int64 {
	median := 130_000 * math.Pow(415, random.Float64())
	sigma := median * (0.01 + 0.11*random.Float64())
	ticks := make([]int64, n)
	for i := range ticks {
		v := median*(1+0.01*float64(i)/float64(n)) + sigma*random.NormFloat64()
		if random.Float64() < 0.005 {
			v *= 1 + 2*random.Float64()
		}
		ticks[i] = int64(max(v, median/4))
	}
	return ticks
}

// SyntheticStore makes a synthetic store in dir.
func SyntheticStore(tb testing.TB, dir string, s Synthetic) {
	tb.Helper()
	valuetest.OK(tb, ingest.Init(dir))
	names := make([]schema.SealedFile, s.Runs/s.PerFile)
	for i := range names {
		var ids []schema.ULID
		for n := i * s.PerFile; n < (i+1)*s.PerFile; n++ {
			id := valuetest.Must(schema.ParseULID(SyntheticRun(Synthetic{PerFile: s.PerFile, Samples: 1}, n).RunID))
			ids = append(ids, id)
		}
		names[i] = schema.NewSealedFile(schema.ULIDFrom(ids[len(ids)-1].Time(), [10]byte{0: 0xff, 8: byte(i >> 8), 9: byte(i)}), ids)
	}
	perPack := len(names)
	if s.Packs > 0 {
		perPack = (len(names) + s.Packs - 1) / s.Packs
	}
	for first := 0; first < len(names); first += perPack {
		valuetest.OK(tb, sealPack(dir, s, names, first, min(first+perPack, len(names))))
	}
	addEvents(tb, dir, s)
}

// sealPack writes the files of names from first to last, and their pack.
func sealPack(dir string, s Synthetic, names []schema.SealedFile, first, last int) error {
	var pack *TableFile
	if s.Packs > 0 {
		name := schema.SealedFile{ID: names[last-1].ID, First: names[first].First, Last: names[last-1].Last, Rows: (last - first) * s.PerFile}
		name.ID[15]++
		covers := make([]schema.ULID, 0, last-first)
		for _, f := range names[first:last] {
			covers = append(covers, f.ID)
		}
		var err error
		if pack, err = CreateTable(filepath.Join(dir, name.Path(schema.PacksDir)), schema.Runs, covers); err != nil {
			return err
		}
	}
	for i := first; i < last; i++ {
		if err := sealFile(dir, s, names[i], i, pack); err != nil {
			return err
		}
	}
	if pack == nil {
		return nil
	}
	return pack.Finish()
}

// sealFile writes the sealed file i, and its runs into the pack too.
func sealFile(dir string, s Synthetic, name schema.SealedFile, i int, pack *TableFile) error {
	runs, err := CreateTable(filepath.Join(dir, name.Path(schema.RunsDir)), schema.Runs, nil)
	if err != nil {
		return err
	}
	samples, err := CreateTable(filepath.Join(dir, name.Path(schema.SamplesDir)), schema.Samples, nil)
	if err != nil {
		return err
	}
	for n := i * s.PerFile; n < (i+1)*s.PerFile; n++ {
		r := SyntheticRun(s, n)
		digest := sha256.Sum256([]byte(r.RunID))
		row := schema.RunRow(&r, hex.EncodeToString(digest[:16]))
		if pack != nil {
			err = pack.Write(row)
		}
		err = errors.Join(err, runs.Write(row))
		for _, m := range r.Metrics {
			err = errors.Join(err, samples.Write(append([]any{r.RunID}, schema.MetricRow(&m)...)))
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(runs.Finish(), samples.Finish())
}

// addEvents writes events: of ten, five tag, two remove and three note, a run of the last tenth or any other one.
func addEvents(tb testing.TB, dir string, s Synthetic) {
	tb.Helper()
	var packed []byte
	var last schema.ULID
	for i := range s.Events {
		n := s.Runs - 1 - i*(s.Runs/s.Events)
		if i%2 == 0 {
			n = s.Runs - 1 - i*(s.Runs/10/s.Events)
		}
		last = schema.ULIDFrom(Start, [10]byte{8: byte(i >> 8), 9: byte(i)})
		e := schema.Event{
			At:   Start,
			Kind: []schema.EventKind{schema.EventTag, schema.EventNote, schema.EventTag, schema.EventRemove, schema.EventTag}[i%5],
			Runs: []string{SyntheticRun(Synthetic{PerFile: s.PerFile, Samples: 1}, n).RunID}, Key: "kept", Value: "yes",
		}
		switch e.Kind {
		case schema.EventNote:
			e.Key = ""
		case schema.EventRemove:
			e.Key, e.Value = "", ""
		}
		content := WriteEvent(tb, dir, last, e)
		if i < s.Events-s.Events/20 {
			packed = append(packed, content...)
		}
	}
	if s.Packs > 0 && s.Events > 0 {
		WriteFile(tb, filepath.Join(dir, schema.PackedEvents(last)), packed)
	}
}

func WriteFile(tb testing.TB, path string, content []byte) {
	tb.Helper()
	valuetest.OK(tb, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, content, 0o666)))
}
