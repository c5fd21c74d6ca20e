package judge_test

import (
	"maps"
	"testing"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]judge.Threshold{
		"5%":         {Value: .05},
		"0.5 %":      {Value: .005},
		"0%":         {},
		"150%":       {Value: 1.5},
		"0.001":      {Value: .001, Absolute: true},
		"2 ms":       {Value: 2e6, Absolute: true, Unit: "ns"},
		"2000000 ns": {Value: 2e6, Absolute: true, Unit: "ns"},
		"64MiB":      {Value: 64 << 20, Absolute: true, Unit: "B"},
	} {
		valuetest.Equal(t, valuetest.Must(judge.ParseThreshold(text)), want, text)
	}
	for text, says := range map[string]string{
		"":         `threshold "": want a share (5%) or an amount (0.001, 2 ms)`,
		"few":      `threshold "few": want`,
		"-5%":      `threshold "-5%": want`,
		"NaN":      `threshold "NaN": want`,
		"1e999%":   `threshold "1e999%": want`,
		"1e308GiB": `it is too large`,
		"5% or so": `unit "% or so" is not known`,
		"2 parsec": `unit "parsec" is not known`,
	} {
		err := valuetest.Error(judge.ParseThreshold(text))
		valuetest.ErrorIs(t, err, answer.ErrInput, text)
		valuetest.Fails(t, err, says, text)
	}
}

// TestParseSet: values of a flag are thresholds of one metric, or shares for all.
func TestParseSet(t *testing.T) {
	t.Parallel()
	got, err := judge.ParseThresholds([]string{"5%", "latency=10%", "rmse=0.001"})
	want := judge.Thresholds{"": {Value: .05}, "latency": {Value: .1}, "rmse": {Value: .001, Absolute: true}}
	valuetest.DeepEqual(t, []any{err, maps.Equal(got, want)}, []any{nil, true}, got, want)
	for text, says := range map[string]string{
		"few":         `--threshold "few": want a share (5%), or METRIC=AMOUNT`,
		"0.001":       `--threshold "0.001": without a metric it is a share: 5%`,
		"latency=5":   `--threshold "latency=5": want a share (latency=5%), or an amount with its unit`,
		"=5%":         `--threshold "=5%": want METRIC=AMOUNT, or a share of all metrics: 5%`,
		"latency=few": `--threshold "few": want a share (5%) or an amount (0.001, 2 ms)`,
	} {
		err := valuetest.Error(judge.ParseThresholds([]string{text}))
		valuetest.ErrorIs(t, err, answer.ErrInput, text)
		valuetest.Fails(t, err, says, text)
	}
}

// TestFor: a metric has its own threshold, otherwise that of all if it is of its kind.
func TestFor(t *testing.T) {
	t.Parallel()
	s := judge.Thresholds{"": {Value: .05}, "energy": {Value: .1}}
	for metric, want := range map[string]judge.Threshold{"latency": {Value: .05}, "energy": {Value: .1}, "rmse": {Absolute: true}} {
		valuetest.Equal(t, s.For(metric), want, metric)
	}
	valuetest.Equal(t, judge.Thresholds(nil).For("latency"), (judge.Threshold{Value: .02}), "without any it")
}

// TestOver: a threshold of one metric overrides those with lower precedence, one of all metrics overrides their shares.
func TestOver(t *testing.T) {
	t.Parallel()
	below := judge.Thresholds{"latency": {Value: .1}, "rmse": {Value: .001, Absolute: true}, "": {Value: .03}}
	for _, c := range []struct{ above, want judge.Thresholds }{
		{nil, below},
		{judge.Thresholds{"latency": {Value: .2}}, judge.Thresholds{"latency": {Value: .2}, "rmse": below["rmse"], "": {Value: .03}}},
		{judge.Thresholds{"": {Value: .05}}, judge.Thresholds{"rmse": below["rmse"], "": {Value: .05}}},
	} {
		valuetest.DeepEqual(t, c.above.Over(below), c.want, c.above, "over", below)
	}
}
