package tune

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// addrNoRandomize is ADDR_NO_RANDOMIZE of personality(2).
const addrNoRandomize = 0x0040000

// Apply changes the calling thread, from which the processes that it starts inherit, and reads the settings back. The goroutine must be
// locked to the thread.
func (p Process) Apply() (results []Result) {
	if p.FixedAddresses {
		results = append(results, fixAddresses())
	}
	if p.Nice != nil {
		results = append(results, setNice(*p.Nice))
	}
	if p.Processors != nil {
		results = append(results, pin(p.Processors))
	}
	return results
}

// Try returns what Apply would do. It applies the settings on a thread that ends afterwards.
func (p Process) Try() []Result {
	results := make(chan []Result)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		results <- p.Apply()
	}()
	return <-results
}

func fixAddresses() Result {
	const query = 0xffffffff
	now, _, _ := syscall.RawSyscall(unix.SYS_PERSONALITY, query, 0, 0)
	_, _, errno := syscall.RawSyscall(unix.SYS_PERSONALITY, now|addrNoRandomize, 0, 0)
	if errno != 0 {
		return Result{Name: ASLR, Missing: reason(errno)}
	}
	if now, _, _ = syscall.RawSyscall(unix.SYS_PERSONALITY, query, 0, 0); now&addrNoRandomize == 0 {
		return Result{Name: ASLR, Missing: "unsupported: the kernel did not take it"}
	}
	return Result{Name: ASLR, Value: "off"}
}

func setNice(nice int) Result {
	err := unix.Setpriority(unix.PRIO_PROCESS, 0, nice) // on Linux: of the calling thread
	if err != nil {
		return Result{Name: Nice, Missing: reason(err)}
	}
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if now := 20 - raw; err != nil || now != nice { // the system call returns 20 - nice
		return Result{Name: Nice, Missing: fmt.Sprintf("unsupported: set to %d, it reads %d", nice, now)}
	}
	return Result{Name: Nice, Value: strconv.Itoa(nice)}
}

func pin(processors []int) Result {
	var want, now unix.CPUSet
	for _, n := range processors {
		want.Set(n)
	}
	if err := unix.SchedSetaffinity(0, &want); err != nil {
		if errors.Is(err, unix.EINVAL) {
			return Result{Name: Affinity, Missing: "absent: no such processors, or not for this process"}
		}
		return Result{Name: Affinity, Missing: reason(err)}
	}
	if err := unix.SchedGetaffinity(0, &now); err != nil || now != want {
		return Result{Name: Affinity, Missing: "unsupported: only a part of these processors is there"}
	}
	words := make([]string, len(processors))
	for i, n := range processors {
		words[i] = strconv.Itoa(n)
	}
	return Result{Name: Affinity, Value: strings.Join(words, ",")}
}
