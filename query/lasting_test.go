package query

import (
	"errors"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestLasting: sessions that are counted from the last one are replaced by their ids, because there may be newer ones when a user types the commands
// of a report; other text is unchanged.
func TestLasting(t *testing.T) {
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
		valuetest.Equal(t, valuetest.Must(lasting(text, id)), want, text)
	}
	wrong := errors.New("wrong")
	valuetest.ErrorIs(t, valuetest.Error(lasting("session=last", func(string) (string, error) { return "", wrong })), wrong)
}
