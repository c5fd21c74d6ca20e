package views

import (
	"testing"

	"github.com/neurolens/neurolens/query"
)

// TestGroupQuantity: a group has no word for the items of a throughput, which its runs may call tokens.
func TestGroupQuantity(t *testing.T) {
	for metric, want := range map[string]string{"throughput": "1.20 k/s", "output_token_throughput": "1.20 ktok/s"} {
		if got := groupQuantity(&query.Group{Metric: metric, Unit: "1/s"}, new(1200.0)); got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
}
