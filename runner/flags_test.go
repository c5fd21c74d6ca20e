package runner

import (
	"testing"

	"github.com/neurolens/neurolens/runner/probe"
)

// TestHideFlags: secrets in options are hidden, the JSON stays JSON, and what has no secret stays as it is.
func TestHideFlags(t *testing.T) {
	m := probe.NewMask([]string{"MY_PASSWORD=correct-horse"})
	for flags, want := range map[string]string{
		`{"iterations":"1","line":"[\"sort <a.txt\"]","setup":"echo 'a'","warmup":"0"}`: `{"iterations":"1","line":"[\"sort <a.txt\"]","setup":"echo 'a'","warmup":"0"}`,
		`{"line":"[\"curl --token=abcdefghij\"]","stdin":"correct-horse.txt"}`:          `{"line":"[\"curl --token=<hidden>\"]","stdin":"<hidden>.txt"}`,
		`{"set":"[\"env={HF_TOKEN: abcdefghijk, MODE: a}\",\"env.API_KEY=abcdefgh\"]"}`: `{"set":"[\"env={HF_TOKEN: <hidden>, MODE: a}\",\"env.API_KEY=<hidden>\"]"}`,
		`{"setup":"login --password hunter2secret"}`:                                    `{"setup":"login --password <hidden>"}`,
	} {
		if got := hideFlags(flags, m); got != want {
			t.Errorf("%s is stored as %s, want %s", flags, got, want)
		}
	}
}
