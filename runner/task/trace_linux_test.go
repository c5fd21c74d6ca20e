package task

import (
	"testing"
)

// TestTraceOfShortThreads: a thread whose end is seen before the stop in which another one started it is not waited for. A thread that gets
// its number later is.
func TestTraceOfShortThreads(t *testing.T) {
	const parent, child = 7, 8
	r := &tracer{pid: parent, live: map[int]bool{parent: true}, early: map[int]bool{}}
	want := func(step string, live ...int) {
		t.Helper()
		for _, pid := range live {
			if _, is := r.live[pid]; !is {
				t.Errorf("%s: %d is not waited for", step, pid)
			}
		}
		if len(r.live) != len(live) {
			t.Errorf("%s: live %v, want %v", step, r.live, live)
		}
	}
	r.seen(child)
	want("it stops", parent, child)
	r.ended(child)
	r.began(child)
	want("its parent stops after its end", parent)
	r.began(child)
	want("another one begins", parent, child)
	r.seen(child)
	r.ended(child)
	r.began(child)
	want("a third one begins", parent, child)
	r.ended(child)
	r.ended(parent)
	want("all end")
}
