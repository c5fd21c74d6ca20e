package views

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/summary"
)

// TestLikeNarrow: where two operators have no room, one is named whole, rather than half of the second.
func TestLikeNarrow(t *testing.T) {
	t.Parallel()
	row := summary.SimilarRun{Distance: .5, Differences: []summary.OperatorDifference{
		{Operator: "ampere_sgemm_128x64_nn", Share: new(.25), To: new(.75)}, {Operator: "ampere_sgemm_64x32_sliced", Share: new(.75), To: new(.25)},
	}}
	row.RunID = "01JESKVTNA8241VY8C7CQ591QS"
	found := summary.Similar{To: "01JESKVTNA8241VY8C7CQ591QT", Compared: 1, Rows: []summary.SimilarRun{row}}
	for width, want := range map[int]string{
		120: "ampere_sgemm_128x64_… 75 % → 25 %, ampere_sgemm_64x32_s… 25 % → 75 %\n",
		80:  "ampere_sgemm_128x64_… 75 % → 25 %, …\n",
	} {
		var b bytes.Buffer
		Listing{Reader: Display{Now: time.Now(), Width: width}}.Like(found).Render(&b, term.Page{Width: width})
		contains(t, b.String(), want)
	}
}

// TestLikeSameBeginnings: two operators that begin and end alike look different.
func TestLikeSameBeginnings(t *testing.T) {
	t.Parallel()
	begin, end := "void cutlass::device_kernel<", "cutlass_80_tensorop>(Params)"
	row := summary.SimilarRun{Distance: .5, Differences: []summary.OperatorDifference{
		{Operator: begin + "float, " + end, Share: new(.25), To: new(.75)}, {Operator: begin + "half, " + end, Share: new(.75), To: new(.25)},
	}}
	names := operatorNames([]summary.SimilarRun{row})
	first, second := names[begin+"float, "+end], names[begin+"half, "+end]
	if len(names) != 2 || first == second || max(term.Width(first), term.Width(second)) > longestOperator {
		t.Errorf("%q", names)
	}
	if got := differencesText(&row, names, 2); !strings.Contains(got, first+" 75 % → 25 %, "+second) {
		t.Error(got)
	}
}
