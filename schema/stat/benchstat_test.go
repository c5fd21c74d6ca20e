package stat

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// benchstatRow is a line that benchstat printed for two sides: medians with the wider half of their intervals in per
// cent, and p.
var benchstatRow = regexp.MustCompile(`^(\S+) +([\d.]+)([nµm]?) ± +(\d+|∞)%?.*? +([\d.]+)([nµm]?) ± +(\d+|∞)%?.*\(p=([\d.]+) n=(\d+)\)`)

// TestBenchstatGolden: what benchstat (golang.org/x/perf) prints of its own test data: the median, the order-statistic
// interval and Mann and Whitney's p are those of the same rule. Left out are its units with assume=exact, which have no
// statistics, and the geometric means.
func TestBenchstatGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		golden string
		inputs []string
		rows   int
	}{
		{"crcIgnore.stdout", []string{"crc-old.txt", "crc-new.txt"}, 36},
		{"issue19634.stdout", []string{"issue19634.txt"}, 1},
		{"issue19565.stdout", []string{"issue19565.txt"}, 1},
		{"smallSample.stdout", []string{"smallSample.txt"}, 1},
	} {
		sides := benchmarks(t, c.inputs)
		rows := 0
		for line := range strings.Lines(string(benchstatFile(t, c.golden))) {
			if strings.Contains(line, "B/s") {
				break
			}
			row := benchstatRow.FindStringSubmatch(line)
			if row == nil || row[1] == "geomean" {
				continue
			}
			rows++
			base, head := sides[0][row[1]], sides[1][row[1]]
			if n := strconv.Itoa(len(base)); n != row[9] {
				t.Fatalf("%s has %s values, want %s", row[1], n, row[9])
			}
			wantPrinted(t, row[1], base, row[2:5])
			wantPrinted(t, row[1], head, row[5:8])
			if _, p := MannWhitney(base, head); strconv.FormatFloat(p, 'f', 3, 64) != row[8] {
				t.Errorf("%s: p %g, want %s", row[1], p, row[8])
			}
		}
		valuetest.Equal(t, rows, c.rows, c.golden)
	}
}

// TestBenchstatCSVGolden: medians to all digits.
func TestBenchstatCSVGolden(t *testing.T) {
	t.Parallel()
	sides := benchmarks(t, []string{"old.txt", "new.txt"})
	rows := 0
	for line := range strings.Lines(string(benchstatFile(t, "csvOldNew.stdout"))) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if !strings.HasPrefix(line, "Encode") {
			continue
		}
		rows++
		base, head := sides[0][fields[0]], sides[1][fields[0]]
		for side, values := range map[int][]float64{1: base, 3: head} {
			want := valuetest.Must(strconv.ParseFloat(fields[side], 64))
			if got := median(slices.Clone(values)) * 1e-9; !near(got, want, 1e-15) {
				t.Errorf("%s: median %.17g, want %.17g", fields[0], got, want)
			}
		}
		_, p := MannWhitney(base, head)
		if want := "p=" + strconv.FormatFloat(p, 'f', 3, 64) + " n=10"; fields[6] != want {
			t.Errorf("%s: %s, want %s", fields[0], want, fields[6])
		}
	}
	valuetest.Equal(t, rows, 2)
}

// wantPrinted compares nanoseconds with their median and its prefix of the second, as printed.
func wantPrinted(t *testing.T, name string, values []float64, printed []string) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(values))
	middle := Quantile(sorted, .5)
	digits := printed[0]
	scaled := middle / map[string]float64{"n": 1, "µ": 1e3, "m": 1e6}[printed[1]]
	_, decimals, _ := strings.Cut(digits, ".")
	want, err := strconv.ParseFloat(digits, 64)
	// A half is printed up or down.
	if half := .5 * math.Pow(10, -float64(len(decimals))); err != nil || math.Abs(scaled-want) > half*(1+1e-9) {
		t.Errorf("%s: median %g, want %s%s", name, scaled, digits, printed[1])
	}
}

// benchmarks returns the nanoseconds of every benchmark on two sides: two files, or the notes "before" and "after" of one.
func benchmarks(t *testing.T, files []string) [2]map[string][]float64 {
	t.Helper()
	sides := [2]map[string][]float64{{}, {}}
	for side, file := range files {
		lines := bufio.NewScanner(bytes.NewReader(benchstatFile(t, file)))
		for lines.Scan() {
			fields := strings.Fields(lines.Text())
			if lines.Text() == "note: after" {
				side = 1
			}
			if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") || fields[3] != "ns/op" {
				continue
			}
			value := valuetest.Must(strconv.ParseFloat(fields[2], 64))
			name := strings.TrimPrefix(fields[0], "Benchmark")
			sides[side][name] = append(sides[side][name], value)
		}
	}
	return sides
}

func benchstatFile(t *testing.T, name string) []byte {
	t.Helper()
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder of the sample files, is not set")
	}
	text := valuetest.Must(os.ReadFile(filepath.Join(samples, "stats_benchstat", name)))
	return text
}
