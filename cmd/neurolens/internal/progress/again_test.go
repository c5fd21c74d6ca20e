package progress

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestWithRepeats(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"neurolens bench 'sort a' 'sort -n a' --repeats 9", []string{"bench", "sort a", "sort -n a"}},
		{"neurolens bench 'sort a' 'sort b' --repeats 9", []string{"bench", "--repeats", "5", "sort a", "sort b"}},
		{"neurolens --store x bench sweep.yaml --repeats 9", []string{"--store", "x", "bench", "--repeats=5", "sweep.yaml"}},
		{"neurolens bench --repeats 9 -- prog --repeats 5", []string{"bench", "--repeats", "5", "--", "prog", "--repeats", "5"}},
		{"neurolens bench 'sort a' --repeats 9", []string{"bench", "-r", "5", "sort a", "--no-pager"}},
		{"", []string{"bench", "-"}},
	} {
		if got := WithRepeats(c.args, 9); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	for want, args := range map[string][]string{"neurolens bench sweep.yaml -r 5": {"bench", "sweep.yaml", "-r", "5", "--no-pager"}, "": {"bench", "-"}} {
		if got := CommandLine(args); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestPrecisionText(t *testing.T) {
	each := map[int]time.Duration{150: 10 * time.Second} // by the number of runs needed; else unknown
	for want, p := range map[string]*runner.Precision{
		"": {RelError: .01},
		"all 4 points are within 1 % after at most 9 runs":                                                                                                                   {Points: 4, RelError: .01, Repeats: 9},
		"3 of 4 points are not within 1 % after 20 runs; --max-repeats allows more":                                                                                          {Points: 4, Imprecise: 3, RelError: .01, Repeats: 20},
		"the point is not within 0.5 % after 20 runs: ±3.2 % (95 % interval); it needs about 150 runs: --max-repeats 150 (25 min)":                                           {Points: 1, Imprecise: 1, RelError: .005, Repeats: 20, Reached: .032, Needed: 150},
		"2 of 4 points are not within 1 % after 20 runs: at worst ±3.2 % (95 % interval); it needs more than 1,000 runs: measure on a quieter machine, or more work per run": {Points: 4, Imprecise: 2, RelError: .01, Repeats: 20, Reached: .032},
		"the point is not within 1 % after 3 runs; stopped by --max-time; it needs about 9 runs":                                                                             {Points: 1, Imprecise: 1, RelError: .01, Repeats: 3, Needed: 9, Stopped: runner.StopMaxTime},
		"2 of 4 points are not within 1 % after 1 run; stopped by timeouts.suite":                                                                                            {Points: 4, Imprecise: 2, RelError: .01, Repeats: 1, Stopped: runner.StopTimeout},
		"the point is not within 1 % after 7 runs; interrupted":                                                                                                              {Points: 1, Imprecise: 1, RelError: .01, Repeats: 7, Stopped: runner.StopInterrupted},
		"the point is within 1 % after 9 runs: ±0.8 % (95 % interval)":                                                                                                       {Points: 1, RelError: .01, Repeats: 9, Reached: .008},
		"both points are within 1 % after at most 9 runs: at worst ±0.8 % (95 % interval)":                                                                                   {Points: 2, RelError: .01, Repeats: 9, Reached: .008},
	} {
		if got := precisionText(p, each[p.Needed]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAgainBytes: a command line of any bytes is written so that a shell reads it back.
func TestAgainBytes(t *testing.T) {
	args := []string{"bench", "a\tb", "", "--set", "x=\n", "--repeats", "2", "--store", "caf\xe9", "\u202e", "it's", "$x", "!", "--", "sort", "-t", "\t", "\x1b[2J", "a\n", "-r", "3"}
	got, err := shellwords.Split(CommandLine(args))
	if err != nil || !slices.Equal(got, append([]string{"neurolens"}, args...)) {
		t.Errorf("%q, %v", got, err)
	}
	want := append([]string{"neurolens", "bench", "a\tb", "", "--set", "x=\n", "--store", "caf\xe9", "\u202e", "it's", "$x", "!", "--repeats", "7"}, args[13:]...)
	if got, err = shellwords.Split(WithRepeats(args, 7)); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestInShard: the next command of a task that took its shard from an array names the shard. Words of a program stay as they are.
func TestInShard(t *testing.T) {
	for line, want := range map[string]string{
		"bench s.yaml --shard auto/4":               "bench s.yaml --shard 2/4",
		"bench s.yaml --shard=auto --repeats 3":     "bench s.yaml --shard=2/4 --repeats 3",
		"bench s.yaml --shard 2/4 --campaign auto":  "bench s.yaml --shard 2/4 --campaign auto",
		"bench --shard auto/4 -- sh --shard auto/4": "bench --shard 2/4 -- sh --shard auto/4",
	} {
		valuetest.DeepEqual(t, strings.Join(InShard(strings.Fields(line), "2/4"), " "), want, line)
	}
}
