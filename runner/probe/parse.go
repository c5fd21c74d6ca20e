package probe

import (
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

// chosen gives the word in brackets: always [madvise] never.
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

// firstNumber gives the first word, which has to be a number.
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

// pressure gives the share of the last 10 s in which some task waited, in percent.
func pressure(text string) (string, error) {
	rest, ok := strings.CutPrefix(text, "some avg10=")
	if !ok {
		return "", malformed("a pressure", text)
	}
	return firstNumber(rest)
}

// status gives a parser of one line of a status file: Cpus_allowed_list: 0-3.
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

// kibibytes gives a parser of one line of meminfo: MemTotal: 16 kB, in bytes.
func kibibytes(key string) func(string) (string, error) {
	return func(text string) (string, error) {
		value, err := status(key)(text)
		if err != nil {
			return "", err
		}
		return size(strings.TrimSuffix(value, " kB") + "K")
	}
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

// distribution gives the name of the system from os-release.
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
