package schema

import (
	"strconv"
	"testing"
)

// TestDigestOfRows: the rows of a run, in any order, have its digest; and a Digester keeps nothing of the run before.
func TestDigestOfRows(t *testing.T) {
	t.Parallel()
	var d Digester
	for name, edit := range map[string]func(*Run){
		"full":       func(*Run) {},
		"no primary": func(r *Run) { r.Primary = "" },
		"aggregates": func(r *Run) {
			r.Metrics = append(r.Metrics, Metric{Name: "a", Summary: Summary{P50: new(2.0)}}, Metric{Name: "z", Reals: []float64{1, 2}})
		},
		"ops":   func(r *Run) { r.Ops = append([]Op{{Index: 7}}, r.Ops...) },
		"empty": func(r *Run) { *r = Run{Tags: map[string]string{}, Warnings: []string{}, Artifacts: []Artifact{}} },
	} {
		r := fullRun()
		edit(&r)
		var samples, ops [][]any
		for i := range r.Metrics {
			samples = append(samples, append([]any{r.RunID}, MetricRow(&r.Metrics[i])...))
		}
		for i := range r.Ops {
			ops = append(ops, append([]any{r.RunID}, OpRow(&r.Ops[i])...))
		}
		want := DigestOf(&r)
		if got := DigestOfRows(RunRow(&r, want), samples, ops); got != want {
			t.Errorf("%s: the rows have the digest %s, the run %s", name, got, want)
		}
		if got := d.Of(&r); got != want {
			t.Errorf("%s: after other runs the digest is %s, not %s", name, got, want)
		}
	}
}

// TestPlainInteger: what is canonical without a look at it is what the look gives.
func TestPlainInteger(t *testing.T) {
	t.Parallel()
	for _, literal := range []string{"0", "7", "64", "00", "07", "+7", "-7", "7.0", "7e1", "1_000", "", "x", "999999999999999999", "9223372036854775807", "9223372036854775808"} {
		n, err := strconv.ParseInt(literal, 10, 64)
		if got := isPlainInteger(literal); got && (err != nil || strconv.FormatInt(n, 10) != literal) {
			t.Errorf("%q is not plain", literal)
		}
	}
	if !isPlainInteger("999999999999999999") || isPlainInteger("9223372036854775808") {
		t.Error("18 digits are plain, and 19 may not fit")
	}
}

// TestMetricNames: a name begins with a letter or _.
func TestMetricNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"a": true, "_": true, "p99-ns": true, "Z9_.:/-": true, "": false, "9": false, "-a": false, "a b": false, "ä": false, "a\n": false} {
		if isMetricName(name) != want {
			t.Errorf("%q: want %t", name, want)
		}
	}
}
