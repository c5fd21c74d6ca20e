package measuring

import "testing"

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
}
