package reporting

import (
	"errors"
	"testing"
)

// TestNamed: sessions that are counted from the last one are named by their ids, as there are newer ones when somebody types the commands
// of a report; what says anything else stays as it is.
func TestNamed(t *testing.T) {
	ids := map[string]string{"last": "A", "last~1": "B"}
	id := func(session string) (string, error) { return ids[session], nil }
	for text, want := range map[string]string{
		"":                                  "",
		"session=last":                      "session=A",
		"session=last~1 or (session=last) ": "session=B or (session=A) ",
		"session=last~7 dim=64":             "session=last~7 dim=64",
		"session=last,last~1":               "session=last,last~1",
		"tag.session=last":                  "tag.session=last",
		"tag.x='session=last '":             "tag.x='session=last '",
		"session=lastly":                    "session=lastly",
	} {
		if got, err := named(text, id); got != want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
	wrong := errors.New("wrong")
	if _, err := named("session=last", func(string) (string, error) { return "", wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
}

// TestTwoSides: two sessions, as compare takes them, are refused with the commands that compare them.
func TestTwoSides(t *testing.T) {
	for _, test := range []struct {
		words []string
		want  string
	}{
		{[]string{"session=last~1", "session=last"}, "report: no run is of session=last~1 and of session=last: neurolens compare 'session=last~1' session=last says what changed, and neurolens plot forest 'session=last~1' session=last draws it"},
		{[]string{"session=last", "session=last"}, ""},
		{[]string{"session=A,B", "session=B"}, ""},
		{[]string{"session=A or session=B", "session=B"}, ""},
		{[]string{"session=A", "or", "session=B"}, ""},
	} {
		got := ""
		if _, err := (&Asked{}).Request(test.words); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%q: got %s, want %s", test.words, got, test.want)
		}
	}
}
