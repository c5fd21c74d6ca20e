package probe

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"
)

// maxCPUs bounds the numbers in a list of processors.
const maxCPUs = 1 << 16

// integer passes a whole number.
func integer(text string) (string, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", malformed("a number", text)
	}
	return strconv.FormatInt(n, 10), nil
}

// flag turns 1 and 0 into true and false.
func flag(text string) (string, error) {
	if text != "0" && text != "1" {
		return "", malformed("0 or 1", text)
	}
	return strconv.FormatBool(text == "1"), nil
}

// inverted is flag for a file that says what is switched off.
func inverted(text string) (string, error) {
	value, err := flag(text)
	if err != nil {
		return "", err
	}
	return strconv.FormatBool(value == "false"), nil
}

// orNone passes a list in which nothing is a statement too.
func orNone(text string) (string, error) {
	if text == "" || text == "(null)" {
		return "none", nil
	}
	return text, nil
}

// chosen returns the word in brackets: always [madvise] never.
func chosen(text string) (string, error) {
	_, rest, _ := strings.Cut(text, "[")
	word, _, ok := strings.Cut(rest, "]")
	if !ok {
		return "", malformed("a choice", text)
	}
	return word, nil
}

// kilohertz turns kHz into MHz.
func kilohertz(text string) (string, error) { return thousandths("a frequency", text) }

// thousandths divides a whole number by 1000.
func thousandths(what, text string) (string, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", malformed(what, text)
	}
	return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64), nil
}

// firstNumber returns the first word, which has to be a number.
func firstNumber(text string) (string, error) {
	word, _, _ := strings.Cut(text, " ")
	return number(word)
}

// number passes a decimal number.
func number(text string) (string, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n-n != 0 { // not finite
		return "", malformed("a number", text)
	}
	return strconv.FormatFloat(n, 'f', -1, 64), nil
}

// pressure returns the share of the last 10 s in which some task waited, in percent.
func pressure(text string) (string, error) {
	rest, ok := strings.CutPrefix(text, "some avg10=")
	if !ok {
		return "", malformed("a pressure", text)
	}
	return firstNumber(rest)
}

// status returns a parser of one line of a status file: Cpus_allowed_list: 0-3.
func status(key string) func(string) (string, error) {
	return func(text string) (string, error) {
		for line := range strings.Lines(text) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
				return strings.TrimSpace(value), nil
			}
		}
		return "", malformed(key, text)
	}
}

// kibibytes returns a parser of one line of meminfo: MemTotal: 16 kB, in bytes.
func kibibytes(key string) func(string) (string, error) {
	return func(text string) (string, error) {
		value, err := status(key)(text)
		if err != nil {
			return "", err
		}
		return size(strings.TrimSuffix(value, " kB") + "K")
	}
}

// swapUsed returns how many bytes of meminfo's swap space hold something.
func swapUsed(text string) (string, error) {
	total, err1 := kibibytes("SwapTotal")(text)
	free, err2 := kibibytes("SwapFree")(text)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	t, err1 := strconv.ParseInt(total, 10, 64)
	f, err2 := strconv.ParseInt(free, 10, 64)
	if err1 != nil || err2 != nil || f > t {
		return "", malformed("swap space", total+" with "+free+" free")
	}
	return strconv.FormatInt(t-f, 10), nil
}

// randomized reads a personality: the bits of a process that say how it differs from others. One of them keeps the
// places of its memory from being random.
func randomized(text string) (string, error) {
	const noRandomize = 0x0040000
	bits, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return "", malformed("a personality", text)
	}
	return strconv.FormatBool(bits&noRandomize == 0), nil
}

// processorTime reads the first line of /proc/stat: how long, in ticks, all processors did what there is, and for how
// much of it the host of this virtual machine gave them to others.
func processorTime(text string) (stolen, all uint64, err error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	const steal = 8 // of user nice system idle iowait irq softirq steal; what follows is counted in those before
	if len(fields) <= steal || fields[0] != "cpu" {
		return 0, 0, malformed("the time of the processors", line)
	}
	for i, field := range fields[1 : steal+1] {
		n, err := strconv.ParseUint(field, 10, 52)
		if err != nil {
			return 0, 0, malformed("the time of the processors", line)
		}
		all += n
		if i+1 == steal {
			stolen = n
		}
	}
	return stolen, all, nil
}

// stolenShare returns how much of the time since the start was stolen, in percent.
func stolenShare(text string) (string, error) {
	stolen, all, err := processorTime(text)
	if err != nil || all == 0 {
		return "", cmp.Or(err, malformed("the time of the processors", text))
	}
	return percentage(stolen, all), nil
}

// percentage gives part of whole with three digits after the point.
func percentage(part, whole uint64) string {
	return strconv.FormatFloat(math.Round(1e5*float64(part)/float64(whole))/1e3, 'f', -1, 64)
}

// size turns 48K, 2M and 1G into bytes.
func size(text string) (string, error) {
	scale := int64(1)
	digits := strings.TrimRight(text, "KMG")
	switch strings.TrimPrefix(text, digits) {
	case "":
	case "K":
		scale = 1 << 10
	case "M":
		scale = 1 << 20
	case "G":
		scale = 1 << 30
	default:
		return "", malformed("a size", text)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > 1<<62/scale {
		return "", malformed("a size", text)
	}
	return strconv.FormatInt(n*scale, 10), nil
}

// distribution returns the name of the system from os-release.
func distribution(text string) (string, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return strings.Trim(strings.TrimSpace(value), `"'`), nil
		}
	}
	return "", malformed("os-release", text)
}

// cpuList reads 0-3,8.
func cpuList(text string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.ParseUint(low, 10, 31)
		last, err2 := strconv.ParseUint(high, 10, 31)
		if err1 != nil || err2 != nil || last < first || last >= maxCPUs || len(cpus) >= maxCPUs {
			return nil, malformed("a list of processors", text)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, int(cpu))
		}
	}
	return cpus, nil
}

// listLength counts the members of a list.
func listLength(text string) (string, error) {
	members, err := cpuList(text)
	return strconv.Itoa(len(members)), err
}
