package filter

import "testing"

func TestArguments(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"", "dim=64"}, "dim=64"},
		{[]string{" "}, ""},
		{[]string{"bs=1", "dim=64"}, "bs=1 dim=64"},
		{[]string{"bs=1 or bs=2", "dim=64"}, "(bs=1 or bs=2) dim=64"},
		{[]string{"dim=64", "bs=1 || bs=2 dim=8"}, "dim=64 (bs=1 || bs=2 dim=8)"},
		{[]string{"(bs=1 or bs=2)", "dim=64"}, "((bs=1 or bs=2)) dim=64"},
		{[]string{"bs=1", "or", "bs=2"}, "bs=1 or bs=2"},
		{[]string{"(bs=1", "or bs=2)"}, "(bs=1 or bs=2)"},
		{[]string{JoinArguments("bs=1", "or", "bs=2"), "dim=64"}, "(bs=1 or bs=2) dim=64"},
		{[]string{"variant=sort -n big.txt", "bs=1"}, `variant="sort -n big.txt" bs=1`},
		{[]string{`variant=grep "a b" x`}, `variant="grep \"a b\" x"`},
		{[]string{"p99", "<", "2ms"}, "p99 < 2ms"},
		{[]string{"p99 < 2ms bs=1"}, "p99 < 2ms bs=1"},
		{[]string{"p99<1 ms"}, "p99<1 ms"},
		{[]string{"tag.note=a b"}, `tag.note="a b"`},
		{[]string{"fp32 x"}, "fp32 x"},
		{[]string{"variant=a or"}, "variant=a or"},
	} {
		if got := JoinArguments(test.args...); got != test.want {
			t.Errorf("%q: got %s, want %s", test.args, got, test.want)
		}
	}
}
