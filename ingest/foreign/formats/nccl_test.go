package formats

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// TestTagsInside: mpirun writes its tag wherever a write of the program begins, also between the columns of a row, with
// and without spaces. A row with anything else in the place of a number is refused as a whole.
func TestTagsInside(t *testing.T) {
	t.Parallel()
	const before = "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n" +
		"#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong\n"
	const row = "           8             2     float     sum      -1    22.07    0.10    0.10       0    21.80    0.10    0.10       0"
	read := func(row string) (runs, report string) {
		_, said, found, err := One(All(), fstest.MapFS{"a.log": {Data: []byte(before + row + "\n")}}, "a.log")
		for i := range found {
			runs += Run(&found[i])
		}
		return runs, Report(said, err)
	}
	want, _ := read(row)
	if strings.Count(want, "run ") != 2 {
		t.Fatal(want)
	}
	const tag = "[1,0]<stdout>:"
	for _, c := range []string{
		tag + row, strings.Replace(row, "      -1", "      -1"+tag, 1), strings.ReplaceAll(row, "  ", tag+" "), strings.Replace(row, "    22.07", tag+"22.07", 1),
		strings.Replace(row, "    21.80", "[1,12]<stderr>: 21.80", 1),
	} {
		if got, report := read(c); got != want {
			t.Errorf("%s\ngot %s%s", c, got, report)
		}
	}
	for _, c := range []string{strings.Replace(row, "-1", "-1[lab3:7]", 1), strings.Replace(row, "-1", "x", 1)} {
		if got, report := read(c); got != "" || !strings.Contains(report, "1 refused") || !strings.Contains(report, "root") {
			t.Errorf("%s\ngot %s%s", c, got, report)
		}
	}
}

// TestManyMessages: a log is recognised by the line of its options, however much NCCL prints before the table.
func TestManyMessages(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n")
	for n := range 6000 {
		fmt.Fprintf(&b, "lab3:%d:%d [0] NCCL INFO Channel %02d/64 : 0[0] -> 1[1] via P2P/CUMEM/read\n", n, n, n%64)
	}
	b.WriteString("#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong\n" +
		"           8             2     float     sum      -1    22.07    0.10    0.10       0    21.80    0.10    0.10       0\n")
	format, report, runs, err := One(All(), fstest.MapFS{"a.log": {Data: []byte(b.String())}}, "a.log")
	if text := b.String()[:300<<10]; format != nil {
		if _, cut, _, err := One(All(), fstest.MapFS{"a.log": {Data: []byte(text)}}, "a.log"); cut.Refused != 1 || err != nil {
			t.Errorf("without its table: %+v %v", cut, err)
		}
	}
	if format == nil || len(runs) != 2 || runs[0].Benchmark != "nccl-tests/all_reduce_perf" {
		t.Errorf("%v %v %+v, %d runs", format, err, report, len(runs))
	}
}
