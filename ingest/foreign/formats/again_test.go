package formats

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// stored is a store that holds runs in memory.
type stored map[schema.ULID]schema.Run

func (s stored) Has(id schema.ULID) (bool, error) { _, ok := s[id]; return ok, nil }

func (s stored) Starts(path, changed string) (map[string][]time.Time, error) {
	all := map[string][]time.Time{}
	for _, r := range s {
		commit := r.Env.GitCommit
		if f := r.Env.Facts; f[schema.FactPath] == path && f[schema.FactChanged] == changed && !slices.Contains(all[commit], r.StartedAt) {
			all[commit] = append(all[commit], r.StartedAt)
		}
	}
	return all, nil
}

func (s stored) Machines(path string) (all []string, err error) {
	for _, r := range s {
		if r.Env.Facts[schema.FactPath] == path && r.Env.Machine != "" && !slices.Contains(all, r.Env.Machine) {
			all = append(all, r.Env.Machine)
		}
	}
	return all, nil
}

func (s stored) Run(id schema.ULID) (foreign.ImportedRun, error) {
	r := s[id]
	found := foreign.ImportedRun{Session: r.SessionID, Point: r.PointID, Path: r.Env.Facts[schema.FactPath]}
	if m := r.Metric(r.Primary); m != nil {
		found.Samples = int64(max(len(m.Ticks), len(m.Reals)))
	}
	return found, nil
}

func (s stored) After(begin [5]byte) (found []schema.ULID, err error) {
	for id := range s {
		if [5]byte(id[6:]) == begin {
			found = append(found, id)
		}
	}
	return found, nil
}

// add appends the runs of files, all at once.
func (s stored) add(all []foreign.Format, files []file) {
	reader, runs := foreign.NewReader(foreign.Added{}, s), []schema.Run{}
	for _, f := range files {
		read(reader, all, f, func(valid schema.Valid) bool { runs = append(runs, valid.Run()); return true })
	}
	for _, r := range runs {
		if id, err := schema.ParseULID(r.RunID); err == nil {
			if _, there := s[id]; !there {
				s[id] = r
			}
		}
	}
}

// records returns the digests of the runs without their ids, in ascending order.
func (s stored) records() []string {
	var all []string
	for _, r := range s {
		all = append(all, contentDigest(r))
	}
	slices.Sort(all)
	return all
}

// contentDigest returns the digest of a run without its ids.
func contentDigest(r schema.Run) string {
	r.RunID, r.SessionID = "", ""
	return schema.DigestOf(&r)
}

// read reads a file whose format is recognised.
func read(reader *foreign.Reader, all []foreign.Format, f file, yield func(schema.Valid) bool) {
	folder := f.folder
	if folder == nil {
		folder = fstest.MapFS{f.name: {Data: f.content}}
	}
	in, err := foreign.Open(context.Background(), folder, f.name, nil)
	if err != nil {
		return
	}
	defer in.Close()
	if format, err := in.Format(all); err == nil && format.Read != nil {
		_, _ = reader.Read(in, format, yield)
	}
}

type file struct {
	name    string
	content []byte
	folder  fs.FS // nil: nothing is beside it
}

// corpus returns the files of the fixtures, and of real tools where there are some, that are not too large.
func corpus(t *testing.T, largest int64) (files []file) {
	t.Helper()
	roots := []string{fixtures}
	if samples := os.Getenv("NEUROLENS_SAMPLES"); samples != "" {
		roots = append(roots, samples)
	}
	for _, root := range roots {
		folder := os.DirFS(root)
		err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > largest {
				return err
			}
			content, err := fs.ReadFile(folder, name)
			if err == nil && bytes.IndexByte(content, 0) < 0 {
				files = append(files, file{name, content, folder})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestAgain: whatever is read of a file, of copies of it by other names, of what it was while it was shorter, and of others
// that differ from it in a digit, in whatever order and however often: all runs of each are in the store, once.
func TestAgain(t *testing.T) {
	t.Parallel()
	rounds, largest, every := 2, int64(3<<10), 4 // of the files
	if long() {
		rounds, largest, every = 3, 32<<10, 1
	}
	all, tried, named := All(), 0, map[string]bool{}
	for i, f := range corpus(t, largest) {
		if i%every != 0 {
			continue
		}
		source, nameCounts := inAnyOrder(t, all, file{name: path.Base(f.name), content: f.content}, rounds)
		if source != "" {
			tried++
		}
		named[source] = named[source] || nameCounts
	}
	for source, counts := range named {
		if counts && !slices.Contains([]string{"operation-grid", "triton-perf-report", "trtexec-metadata"}, source) {
			t.Errorf("a copy of another name is not the same, of %s", source)
		}
	}
	if tried < 40/every {
		t.Errorf("%d files", tried)
	}
}

// TestCorpusAgain: whatever part of the corpus is read, in whatever order, with what is beside each file: all runs of each
// are in the store, once.
func TestCorpusAgain(t *testing.T) {
	t.Parallel()
	rounds, largest := 1, int64(2<<10)
	if long() {
		rounds, largest = 4, 32<<10
	}
	all, files := All(), corpus(t, largest)
	for n := range rounds {
		if _, got, want := added(all, files, rand.New(rand.NewPCG(uint64(n), 16))); !slices.Equal(got, want) {
			t.Errorf("round %d: %d runs, want %d", n, len(got), len(want))
		}
	}
}

func long() bool { return os.Getenv("NEUROLENS_LONG") != "" }

// record is a run in a file.
type record struct {
	digest, point, source string
	samples               int
}

// recordsOf returns the runs of a file that nobody has read before, in order.
func recordsOf(all []foreign.Format, f file) (records []record) {
	read(foreign.NewReader(foreign.Added{}, nil), all, f, func(valid schema.Valid) bool {
		r := valid.Run()
		one := record{digest: contentDigest(r), point: r.PointID, source: r.Source}
		if m := r.Metric(r.Primary); m != nil {
			one.samples = max(len(m.Ticks), len(m.Reals))
		}
		records = append(records, one)
		return true
	})
	return records
}

// runIDsIn returns the ids of the runs of a file.
func runIDsIn(all []foreign.Format, f file) (ids []string) {
	read(foreign.NewReader(foreign.Added{}, nil), all, f, func(valid schema.Valid) bool {
		ids = append(ids, valid.Run().RunID)
		return true
	})
	return ids
}

// union returns what a store has to have of some files, whatever their order: all runs of each file, but of one that is the
// beginning of another only the last, if that had fewer samples then.
func union(files [][]record) (all []string) {
	same := func(a, b []record) bool { return slices.Equal(a, b) }
	var distinct [][]record
	for _, f := range files {
		if !slices.ContainsFunc(distinct, func(d []record) bool { return same(d, f) }) {
			distinct = append(distinct, f)
		}
	}
	for _, f := range distinct {
		last := len(f) - 1
		begins := func(d []record) bool { return len(d) > len(f) && same(d[:len(f)], f) }
		broke := func(d []record) bool {
			return last > 0 && len(d) > last && same(d[:last], f[:last]) && d[last].point == f[last].point && d[last].samples > f[last].samples
		}
		switch {
		case len(f) == 0 || slices.ContainsFunc(distinct, begins):
		case slices.ContainsFunc(distinct, broke):
			all = append(all, f[last].digest)
		default:
			for _, r := range f {
				all = append(all, r.digest)
			}
		}
	}
	slices.Sort(all)
	return all
}

// added stores some of the files, each twice, in an order and some at once, as chance has it: what is stored then, and what
// has to be.
func added(all []foreign.Format, files []file, random *rand.Rand) (order, got, want []string) {
	some := slices.Clone(files)
	shuffle := func() { random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] }) }
	shuffle()
	some = some[:1+random.IntN(len(some))]
	var records [][]record
	for _, f := range some {
		records = append(records, recordsOf(all, f))
	}
	some = slices.Concat(some, some)
	shuffle()
	store := stored{}
	for rest := some; len(rest) > 0; {
		n := 1 + random.IntN(len(rest))
		store.add(all, rest[:n])
		rest = rest[n:]
	}
	for _, f := range some {
		order = append(order, fmt.Sprint(f.name, " ", len(f.content)))
	}
	return order, store.records(), union(records)
}

// inAnyOrder tries a file: the source of its runs, empty where it has none, and whether its name says something of them.
func inAnyOrder(t *testing.T, all []foreign.Format, whole file, rounds int) (source string, nameCounts bool) {
	t.Helper()
	records := recordsOf(all, whole)
	if len(records) == 0 {
		return "", false
	}
	copied := file{name: "elsewhere/copy-of-" + whole.name, content: whole.content}
	if nameCounts = !slices.Equal(recordsOf(all, copied), records); nameCounts {
		copied.name = "elsewhere/" + whole.name
	}
	variants := []file{whole, copied}
	if other := otherDigit(whole); !slices.Equal(runIDsIn(all, other), runIDsIn(all, whole)) { // what earlier versions did not read is no part of an id
		variants = append(variants, other)
	}
	if at := bytes.IndexByte(bytes.TrimLeft(whole.content, " \r\n"), '{'); at != 0 || bytes.Count(whole.content, []byte("\n{")) > 0 {
		variants = append(variants, lines(whole, 1, 2), lines(whole, 4, 5))
	}
	for n := range rounds {
		random := rand.New(rand.NewPCG(uint64(n), 4))
		if order, got, want := added(all, variants, random); !slices.Equal(got, want) {
			t.Errorf("%s: %d runs, want %d, of %q", whole.name, len(got), len(want), order)
			break
		}
	}
	return records[0].source, nameCounts
}

// lines returns the first of the lines of a file.
func lines(whole file, part, of int) file {
	all := bytes.SplitAfter(whole.content, []byte("\n"))
	return file{name: whole.name, content: bytes.Join(all[:len(all)*part/of], nil)}
}

// otherDigit returns a file that differs in the last digit behind a point.
func otherDigit(whole file) file {
	content := bytes.Clone(whole.content)
	for i := len(content) - 1; i > 0; i-- {
		if content[i] >= '1' && content[i] <= '8' && bytes.IndexByte(content[max(0, i-6):i], '.') >= 0 {
			content[i]++
			break
		}
	}
	return file{name: "other-" + whole.name, content: content}
}

// TestRefusedAgain: a refused record between others does not make a file another one when it is read again, also not if it has grown meanwhile.
func TestRefusedAgain(t *testing.T) {
	t.Parallel()
	good := func(n int) string {
		return fmt.Sprintf(`{"benchmark":"b%d","samples":[{"metric":"latency","unit":"ms","values":[%d]}]}`, n, n) + "\n"
	}
	for _, refused := range []string{
		`{"benchmark":"x","samples":[{"metric":"l","unit":"ms","values":[]}]}`,
		`{"benchmark":"x","precision":"fp17","samples":[{"metric":"l","unit":"ms","values":[1]}]}`,
		`{"benchmark":"x","samples":[{"metric":"l","unit":"ms","better":"larger","values":[1]}]}`,
		`{"benchmark":"x","samples":[{"metric":"l","unit":"ms","values":[1]},{"metric":"l","unit":"ms","values":[2]}]}`,
	} {
		store := stored{}
		for n, content := range []string{
			good(1) + refused + "\n" + good(2), good(1) + refused + "\n" + good(2), good(1) + refused + "\n" + good(2) + refused + "\n" + good(3),
			good(1) + refused + "\n" + good(2) + refused + "\n" + good(3), good(1) + good(2) + good(3),
		} {
			store.add(All(), []file{{name: "w.jsonl", content: []byte(content)}})
			if want := 2 + min(1, n/2); len(store) != want {
				t.Fatalf("%s: after reading %d files the store has %d runs, want %d", refused, n+1, len(store), want)
			}
		}
	}
}

// earlier are the ids of runs, and their session, as version 0.1.0 stored files in the order of their records. It read no requests_failed, and
// took the end of a benchmark of vLLM for its start.
var earlier = map[string]struct {
	session string
	ids     []string
}{
	"vllm/serve-detailed.json":    {"01M28E0AE8HXW5HFPWWTGZN29Q", []string{"01M28E0AE88241VY8CYD6MFBM5"}},
	"vllm/serve-failed.json":      {"01M28E0AE8M11V9SQFG36GY9B6", []string{"01M28E0AE88241VY8C25R45BGJ"}},
	"vllm/appended.jsonl":         {"01M28E205093FW8JMYW7VPBA3V", []string{"01M28E20508241VY8CF2DV4BDP", "01M28E2148F2DV4BDPF5SD17KC"}},
	"aiperf/profile_export.jsonl": {"01KJAHJXR0HCVMQBDGYDMGWR4W", []string{"01KJAHJXR08241VY8CCFX7BG1P"}},
	"genai-perf/my_export.json":   {"01JC1H426VW5XBE6PDKERYX9E5", []string{"01JC1H426V8241VY8CF2XCDPFH", "0000000000F2XCDPFHC5MHEWS8"}},
	"sglang/results.jsonl":        {"", []string{"00000000008241VY8CN9G3ASW4", "0000000000N9G3ASW4V11EQCZT", "0000000000V11EQCZTCRM08PMM", "0000000000CRM08PMM3FMV2F11"}},
	"vllm-text/vllm.log":          {"", []string{"00000000008241VY8C1GYZWPKK", "00000000001GYZWPKKFPC58WMM"}},
	"vllm-text/sglang.log":        {"", []string{"00000000008241VY8CCQB67Y5X"}},
}

// TestEarlierVersions: a file that an earlier version has stored, which read less of it or another start, is still known. What it has grown by
// belongs to the session that is stored.
func TestEarlierVersions(t *testing.T) {
	t.Parallel()
	all := All()
	for name, was := range earlier {
		content, err := os.ReadFile(path.Join(fixtures, name))
		if err != nil {
			t.Fatal(err)
		}
		for stores := 1; stores <= len(was.ids); stores++ {
			old := stored{}
			for _, text := range was.ids[:stores] {
				id, err := schema.ParseULID(text)
				if err != nil {
					t.Fatal(err)
				}
				old[id] = schema.Run{RunID: text, SessionID: was.session}
			}
			var added []schema.Run
			f := file{name: name, content: content, folder: os.DirFS(fixtures)}
			read(foreign.NewReader(foreign.Added{}, old), all, f, func(v schema.Valid) bool { added = append(added, v.Run()); return true })
			if len(added) != len(was.ids)-stores {
				t.Errorf("%s: %d of %d runs were stored, %d are added", name, stores, len(was.ids), len(added))
			}
			for _, r := range added {
				if r.SessionID != was.session {
					t.Errorf("%s: what it has grown by is of session %q, not %q", name, r.SessionID, was.session)
				}
			}
		}
	}
}

// TestEarlierVersionsTwice: a file and a copy of it add nothing to a store of an earlier version, and one that differs in its start alone is
// another file.
func TestEarlierVersionsTwice(t *testing.T) {
	t.Parallel()
	const text = `{"date": "20260610-205322", "model_id": "m", "num_prompts": 4, "request_rate": "inf", "duration": 129.4, "completed": 4, "request_throughput": 2.5}`
	const began = `{"date": "20260610-205322", "model_id": "m", "num_prompts": 4, "request_rate": "inf", "duration": 129.4, "completed": 4, "request_throughput": 2.5, ` +
		`"benchmark_start_time_unix": 1781124671.9}`
	count := func(s stored, texts ...string) (n int) {
		reader := foreign.NewReader(foreign.Added{}, s)
		for _, text := range texts {
			f := file{name: "a.json", content: []byte(text), folder: fstest.MapFS{"a.json": {Data: []byte(text)}}}
			read(reader, All(), f, func(schema.Valid) bool { n++; return true })
		}
		return n
	}
	if n := count(stored{}, text, text, began, began); n != 2 {
		t.Errorf("%d runs of two files and their copies", n)
	}
}

// TestIdentities: the runs of each fixture have the ids and points in testdata/identities.txt, which earlier versions gave them too. With
// others, a file that they imported would be stored twice. Only runs of vllm had ids with the time of their end: see TestEarlierVersions.
func TestIdentities(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	all, folder := All(), os.DirFS(fixtures)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "README.md" || d.Name() == "want.txt" {
			return err
		}
		_, _, runs, _ := One(all, folder, name)
		if len(runs) == 0 {
			return nil
		}
		sum := sha256.New()
		for i := range runs {
			fmt.Fprintln(sum, runs[i].RunID, runs[i].PointID)
		}
		fmt.Fprintf(&b, "%s %d %x\n", name, len(runs), sum.Sum(nil)[:6])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	Compare(t, filepath.Join("testdata", "identities.txt"), b.String())
}
