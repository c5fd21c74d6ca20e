//go:build linux

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// benchmarkThatKills takes one of the orders in the folder ORDERS, by chance, and carries it out on the command that measures it, the parent of
// its supervisor: a signal, or the end of the connection of that command. An order is carried out once, so it is taken only when there is a
// connection to cut: a command measures on for a while after its connection is gone.
const benchmarkThatKills = `
parent() { sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status"; }
[ $(($(od -An -N1 -tu1 /dev/urandom) % 2)) = 0 ] || exit 0
order=$(ls ORDERS | head -n 1)
signal=${order#*-} wait=600 victim=$(parent $PPID)
if [ "$signal" = CUT ]; then
	signal=KILL wait=0
	until grep -q '^sshd' "/proc/$victim/comm"; do
		victim=$(parent "$victim")
		[ "$victim" -gt 1 ] || exit 0
	done
fi
[ -n "$order" ] && mv "ORDERS/$order" DONE 2>/dev/null || exit 0
kill "-$signal" "$victim"
sleep "$wait" # until the supervisor ends it
`

// sharedSweep makes a repository with a sweep of 24 points in blocks of two, and 72 runs, which carry out so many orders in turn: KILL, TERM or
// CUT. orders is the folder with those that are left.
func sharedSweep(t *testing.T, n int, kinds ...string) (dir, orders string) {
	dir = valuetest.Must(filepath.EvalSymlinks(t.TempDir()))
	orders, done := t.TempDir(), t.TempDir()
	for i := range n {
		programtest.WriteFile(t, orders, fmt.Sprintf("%02d-%s", i, kinds[i%len(kinds)]), "")
	}
	programtest.WriteFile(t, dir, "kill.sh", strings.NewReplacer("ORDERS", orders, "DONE", done).Replace(benchmarkThatKills))
	programtest.WriteFile(t, dir, "sweep.yaml", `
suite: shared
benchmark: kills
command: [sh, kill.sh, '{variant}', '{n}']
variant: [a, b]
grid: {n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}
warmup: 0
iterations: 1
repeats: 3
`)
	programtest.Repository(t, dir)
	programtest.Link(t, dir)
	return dir, orders
}

// placesOf returns the block, the position and the seed of each ok run of a store, by variant, n and repeat.
func placesOf(t *testing.T, dir, store string) map[string]string {
	t.Helper()
	type row struct{ Launch, Place string }
	places := map[string]string{}
	out := programtest.Output(t, dir, "query", "--store", store, "--format", "jsonl", `
SELECT concat_ws(' ', variant, params['n'], repeat_index) AS launch, concat_ws(' ', block_index, position_index, env['runner.order_seed']) AS place
FROM runs WHERE status = 'ok'`)
	for line := range strings.Lines(out) {
		var r row
		valuetest.OK(t, json.Unmarshal([]byte(line), &r))
		places[r.Launch] = r.Place
	}
	valuetest.DeepEqual(t, len(places), 72, "launches with a place")
	return places
}

// checkShared checks that each run of sharedSweep is there once, that blocks and the order are those of a session that is not shared out, that some nodes have measured, that all orders were
// carried out, and that no process is left.
func checkShared(t *testing.T, dir, orders string, nodes int) {
	t.Helper()
	if left := valuetest.Must(os.ReadDir(orders)); len(left) > 0 {
		t.Errorf("%d orders are left", len(left))
	}
	type run struct {
		Status, Variant, Machine string
		RepeatIndex              int `json:"repeat_index"`
		BlockIndex               int `json:"block_index"`
		Params                   map[string]string
	}
	out := programtest.Output(t, dir, "query", "--format", "jsonl", "SELECT status, variant, machine, repeat_index, block_index, params FROM runs WHERE status = 'ok'")
	seen, blocks, machines := map[string]int{}, map[string]map[int]bool{}, map[string]bool{}
	for line := range strings.Lines(out) {
		var r run
		valuetest.OK(t, json.Unmarshal([]byte(line), &r))
		seen[fmt.Sprint(r.Variant, " ", r.Params["n"], " ", r.RepeatIndex)]++
		block := fmt.Sprint(r.Params["n"], " ", r.RepeatIndex)
		if blocks[block] == nil {
			blocks[block] = map[int]bool{}
		}
		blocks[block][r.BlockIndex], machines[r.Machine] = true, true
	}
	for launch, times := range seen {
		if times != 1 {
			t.Errorf("%s was measured %d times", launch, times)
		}
	}
	for block, numbers := range blocks {
		if len(numbers) != 1 {
			t.Errorf("the block of %s has numbers %v", block, numbers)
		}
	}
	if len(seen) != 72 || len(machines) != nodes {
		t.Errorf("%d of 72 launches were measured, on machines %v", len(seen), machines)
	}
	programtest.Output(t, dir, "bench", "sweep.yaml", "--shard", "1/1", "--store", "whole")
	valuetest.DeepEqual(t, placesOf(t, dir, "runs_store"), placesOf(t, dir, "whole"), "blocks, positions and seeds")
	if left := processesIn(dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// TestSSH: three hosts measure by ssh, of which the connections are cut at random, until nothing is missing.
func TestSSH(t *testing.T) {
	t.Parallel()
	sshd, err := exec.LookPath("sshd")
	for _, program := range []string{"ssh", "ssh-keygen"} {
		_, missing := exec.LookPath(program)
		err = errors.Join(err, missing)
	}
	if err == nil && os.Getuid() != 0 {
		err = errors.New("a session of sshd needs root")
	}
	programtest.Needs(t, "sshd", err)
	home := t.TempDir()
	valuetest.OK(t, os.Chmod(home, 0o700))
	for _, key := range []string{"host", "user"} {
		valuetest.OK(t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(home, key)).Run())
	}
	valuetest.OK(t, os.MkdirAll("/run/sshd", 0o755)) // where sshd gives up its rights
	// Each connection has a server of its own, so none is awaited, and no port can be another's.
	server := fmt.Sprintf("ProxyCommand=%[1]s -i -e -f /dev/null -h %[2]s/host -o AuthorizedKeysFile=%[2]s/user.pub -o StrictModes=no -o PermitRootLogin=yes", sshd, home)

	const cuts = 10
	dir, orders := sharedSweep(t, cuts, "CUT")
	rounds := 0
	for ; ; rounds++ {
		if _, missing := campaignStatus(t, dir); missing == 0 {
			break
		} else if rounds > 2*cuts {
			t.Fatalf("after %d rounds, %d runs are missing", rounds, missing)
		}
		hosts := 3 - rounds%2
		var all sync.WaitGroup
		for i := range hosts {
			command := fmt.Sprintf("cd %s && NEUROLENS_MACHINE=node%d NEUROLENS_LOCKS=%s/locks-%d %s=1 ./neurolens bench sweep.yaml --shard %d/%d", dir, i+1, home, i, programtest.RoleVariable, i+1, hosts)
			client := exec.Command("ssh", "-o", server, "-i", filepath.Join(home, "user"), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes", "127.0.0.1", command)
			client.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			valuetest.OK(t, client.Start())
			all.Go(func() { _ = client.Wait() })
		}
		all.Wait()
		for len(benches(dir)) > 0 { // what measures without a connection ends at its next line
			time.Sleep(20 * time.Millisecond)
		}
	}
	t.Logf("%d connections were cut in %d rounds", cuts, rounds)
	checkShared(t, dir, orders, 3)
}
