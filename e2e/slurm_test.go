//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// cluster is a Slurm of two nodes on this machine, with a folder of its own.
type cluster struct {
	dir     string
	environ []string
}

// startCluster starts munged, slurmctld and two slurmd, and ends them with the test.
func startCluster(t *testing.T) cluster {
	for _, program := range []string{"slurmctld", "slurmd", "sbatch", "munged"} {
		_, err := exec.LookPath(program)
		programtest.Needs(t, "slurm", err)
	}
	if os.Getuid() != 0 {
		programtest.Needs(t, "slurm", fmt.Errorf("slurmd starts jobs as root alone"))
	}
	dir := valuetest.Must(os.MkdirTemp("", "slurm")) // a socket has a short path
	t.Cleanup(func() { os.RemoveAll(dir) })
	valuetest.OK(t, os.Chmod(dir, 0o700))
	host := valuetest.Must(os.Hostname())
	port := freePorts(t, 3)
	conf := fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SelectType=select/linear
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
ReturnToService=2
KillWait=1
SlurmctldPort=%[3]d
SlurmctldPidFile=%[2]s/ctld.pid
SlurmctldLogFile=%[2]s/ctld.log
SlurmdPidFile=%[2]s/%%n.pid
SlurmdLogFile=%[2]s/%%n.log
SlurmdSpoolDir=%[2]s/%%n.spool
StateSaveLocation=%[2]s/state
NodeName=n1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[4]d CPUs=1
NodeName=n2 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[5]d CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
`, host, dir, port, port+1, port+2)
	programtest.WriteFile(t, dir, "slurm.conf", conf)
	programtest.WriteFile(t, dir, "cgroup.conf", "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainCores=no\nConstrainDevices=no\nConstrainRAMSpace=no\nConstrainSwapSpace=no\n")
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "munge.key"), []byte(strings.Repeat("k", 128)), 0o400))
	c := cluster{dir, append(os.Environ(), "SLURM_CONF="+dir+"/slurm.conf")}
	c.daemon(t, "munged", "--foreground", "--force", "--socket="+dir+"/munge.socket", "--key-file="+dir+"/munge.key", "--pid-file="+dir+"/munge.pid", "--log-file="+dir+"/munge.log", "--seed-file="+dir+"/munge.seed")
	c.wait(t, "munged", func() bool { _, err := os.Stat(dir + "/munge.socket"); return err == nil })
	c.daemon(t, "slurmctld", "-D", "-c", "-f", dir+"/slurm.conf")
	for _, node := range []string{"n1", "n2"} {
		c.daemon(t, "slurmd", "-D", "-N", node, "-f", dir+"/slurm.conf")
	}
	c.wait(t, "idle nodes", func() bool {
		out, _ := c.command("sinfo", "--noheader", "--format=%t %D").CombinedOutput()
		return strings.TrimSpace(string(out)) == "idle 2"
	})
	return c
}

// freePorts returns the first of n free ports in a row. All are below 32768, where the kernel begins to give ports to connections of others.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	free := func(port int) bool {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		return err == nil && listener.Close() == nil
	}
	first, found := 20000+os.Getpid()%4000*n, 0
	for port := first; port < 1<<15; port++ {
		if found++; !free(port) {
			found = 0
		}
		if found == n {
			return port - n + 1
		}
	}
	t.Fatalf("no %d free ports from %d on", n, first)
	return 0
}

func (c cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = c.environ
	return cmd
}

// daemon starts a daemon in the foreground of a session of its own, and kills it at the end of the test.
func (c cluster) daemon(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := c.command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	valuetest.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// wait waits until something is there, and shows the logs if it does not come.
func (c cluster) wait(t *testing.T, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !there(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			logs, _ := filepath.Glob(c.dir + "/*.log")
			for _, log := range logs {
				text, _ := os.ReadFile(log)
				t.Logf("%s:\n%s", log, text)
			}
			t.Fatalf("no %s after a minute", what)
		}
	}
}

// processesIn lists the processes that work in a folder, by their command lines with NULs between words.
func processesIn(dir string) map[int]string {
	all := map[int]string{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if cwd, _ := os.Readlink("/proc/" + entry.Name() + "/cwd"); err == nil && cwd == dir {
			line, _ := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
			all[pid] = string(line)
		}
	}
	return all
}

// benches lists the processes that measure in a folder: those that a launcher has started, not their supervisors.
func benches(dir string) (pids []int) {
	for pid, line := range processesIn(dir) {
		if strings.Contains(line, "\x00bench\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestSlurm: tasks of arrays are killed while they measure, and what --status prints is submitted with other numbers of tasks, until nothing is
// missing. Then each run is there once, blocks are whole, and no process is left.
func TestSlurm(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	const kills = 20
	dir, orders := sharedSweep(t, kills, "KILL", "TERM")
	random := rand.New(rand.NewPCG(5, uint64(time.Now().UnixNano())))
	rounds := 0
	for ; ; rounds++ {
		state, missing := campaignStatus(t, dir)
		if missing == 0 {
			break
		}
		if rounds > 2*kills {
			t.Fatalf("after %d arrays, %d runs are missing", rounds, missing)
		}
		tasks := 2 + random.IntN(3)
		array := fmt.Sprintf("1-%d", tasks)
		if random.IntN(2) == 0 { // as --status says
			if said := state[strings.LastIndex(state, "\n")+1:]; strings.Contains(said, "--array=") {
				array = said[strings.Index(said, "--array=")+len("--array="):]
				fields := strings.Fields(said)
				for i, word := range fields {
					if word == "--print-sbatch" {
						tasks = valuetest.Must(strconv.Atoi(fields[i+1]))
					}
				}
			}
		}
		c.submit(t, dir, tasks, array)
	}
	t.Logf("%d tasks were killed in %d arrays", kills, rounds)
	checkShared(t, dir, orders, 2)
}

// campaignStatus returns what bench --status prints, and how many runs it says are missing.
func campaignStatus(t *testing.T, dir string) (text string, missing int) {
	t.Helper()
	p := programtest.Program(t, dir, "bench", "sweep.yaml", "--status", "--format", "jsonl")
	if err := p.Run(); err != nil && p.ProcessState.ExitCode() != 4 {
		t.Fatalf("bench --status: %v\n%s", err, p.Messages.String())
	}
	for line := range strings.Lines(p.Printed.String()) {
		var row struct{ Missing, Failed int }
		valuetest.OK(t, json.Unmarshal([]byte(line), &row))
		missing += row.Missing + row.Failed
	}
	said := programtest.Program(t, dir, "bench", "sweep.yaml", "--status")
	_ = said.Run()
	return strings.TrimSpace(said.Printed.String()), missing
}

// submit submits an array, with a folder of locks for each node as on two machines, and waits until it has ended.
func (c cluster) submit(t *testing.T, dir string, tasks int, array string) {
	t.Helper()
	script := programtest.Output(t, dir, "bench", "sweep.yaml", "--print-sbatch", strconv.Itoa(tasks))
	script = strings.Replace(script, "\nexec ", "\nexport NEUROLENS_LOCKS="+c.dir+"/locks-$SLURMD_NODENAME\nexec ./", 1)
	cmd := c.command("sbatch", "--wait", "--array="+array)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(script)
	for _, variable := range programtest.Environ(t) {
		if strings.HasPrefix(variable, "NEUROLENS_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "Submitted batch job") {
		t.Errorf("sbatch: %v\n%s", err, out)
	}
}
