package profiler

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Folded stacks are lines of frames from the outermost on, with ; between them, and the number of samples: the form of flamegraph.pl (Gregg,
// The Flame Graph, CACM 59(6), 2016), which speedscope opens.

// Limits of reading samples: bytes of a line, and of all different stacks.
const (
	maxLine   = 1 << 20
	maxStacks = 64 << 20
)

var errStacks = errors.New("its different stacks take more than 64 MiB")

// stacks counts samples by stack.
type stacks struct {
	counts map[string]int64
	size   int
}

func (s *stacks) add(stack string, count int64) error {
	if stack == "" {
		return nil
	}
	if _, known := s.counts[stack]; !known {
		if s.size += len(stack); s.size > maxStacks {
			return errStacks
		}
	}
	s.counts[stack] += count
	return nil
}

// write writes the stacks, sorted.
func (s *stacks) write(w io.Writer) error {
	buffered := bufio.NewWriter(w)
	for _, stack := range slices.Sorted(maps.Keys(s.counts)) {
		fmt.Fprintf(buffered, "%s %d\n", stack, s.counts[stack])
	}
	return buffered.Flush()
}

// foldPerf folds the output of perf script: a line for each sample, which begins with the name of its process, and below it the frames from the
// innermost on, each as ADDRESS SYMBOL+OFFSET (FILE). A blank line ends a sample.
func foldPerf(r io.Reader, w io.Writer) error {
	all := stacks{counts: map[string]int64{}}
	process, frames := "", []string{}
	end := func() error {
		slices.Reverse(frames)
		stack := strings.Join(frames, ";")
		frames = frames[:0]
		if stack == "" {
			return nil
		}
		return all.add(process+";"+stack, 1)
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.TrimSpace(line) == "":
			if err := end(); err != nil {
				return err
			}
		case line[0] == ' ' || line[0] == '\t':
			frames = append(frames, frameOf(strings.TrimSpace(line)))
		default:
			process = processOf(line)
		}
	}
	if err := errors.Join(lines.Err(), end()); err != nil {
		return err
	}
	return all.write(w)
}

// frameOf returns the name of a frame of perf script.
func frameOf(line string) string {
	_, name, _ := strings.Cut(line, " ")
	if i := strings.LastIndex(name, " ("); i >= 0 {
		name = name[:i]
	}
	if i := strings.LastIndex(name, "+0x"); i >= 0 {
		name = name[:i]
	}
	return word(name, "[unknown]")
}

// sampleOf matches the first line of a sample: NAME PID TIME: EVENT. The name may have blanks.
var sampleOf = regexp.MustCompile(`^(.+?)\s+[0-9]+(?:/[0-9]+)?\s`)

// processOf returns the name of the process of a sample.
func processOf(line string) string {
	if m := sampleOf.FindStringSubmatch(line); m != nil {
		line = m[1]
	}
	return word(line, "[unknown]")
}

// word returns a name as a frame may be called; otherwise if it is empty.
func word(name, otherwise string) string {
	name = strings.Join(strings.Fields(strings.ReplaceAll(strings.ToValidUTF8(name, "\ufffd"), ";", ":")), " ")
	if name == "" {
		return otherwise
	}
	return name
}

// The frame within which a worker measures in a pass, and the beginning of the files of a worker, as py-spy names frames: NAME (FILE:LINE).
const (
	measuringFrame = "within (neurolens_profiled.py:"
	workerFile     = "(neurolens_"
)

// foldPySpy keeps the stacks of py-spy that are inside of the measured iterations of a worker, from the first frame of the benchmark on. The stacks
// of another program are kept as they are.
func foldPySpy(r io.Reader, w io.Writer) error {
	inside, others, isWorker := stacks{counts: map[string]int64{}}, stacks{counts: map[string]int64{}}, false
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		i := strings.LastIndexByte(lines.Text(), ' ')
		count, err := strconv.ParseInt(lines.Text()[i+1:], 10, 64)
		if i < 0 || err != nil || count < 0 {
			return fmt.Errorf("line %d is no stack", n)
		}
		frames := strings.Split(strings.ToValidUTF8(strings.TrimSpace(lines.Text()[:i]), "\ufffd"), ";")
		last := -1
		measuring := false
		for k, frame := range frames {
			measuring = measuring || strings.HasPrefix(frame, measuringFrame)
			if strings.Contains(frame, workerFile) {
				last = k
			}
		}
		isWorker = isWorker || last >= 0
		to, stack := &others, strings.Join(frames, ";")
		if measuring {
			to, stack = &inside, strings.Join(frames[last+1:], ";")
		}
		if err := to.add(stack, count); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if isWorker {
		return inside.write(w)
	}
	return others.write(w)
}
