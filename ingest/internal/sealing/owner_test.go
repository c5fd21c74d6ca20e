package sealing

import (
	"os/exec"
	"testing"
	"time"
)

// TestZombie: a process that ended is dead, also where nobody asked how.
func TestZombie(t *testing.T) {
	t.Parallel()
	child := exec.Command("true")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	defer child.Wait()
	o := Self("", time.Now())
	o.PID = child.Process.Pid
	for until := time.Now().Add(10 * time.Second); !o.dead(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it counts as alive")
		}
	}
	if !zombie(o.PID) {
		t.Error("it is no zombie")
	}
}
