package formats

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
)

// TestTablesWithoutReports: tables of nsys stats that name no report are not added up, and are the points of the tables alone.
func TestTablesWithoutReports(t *testing.T) {
	t.Parallel()
	all := All()
	read := func(text string) (points []string, times []float64) {
		_, _, runs, err := One(all, fstest.MapFS{"k.csv": {Data: []byte(text)}}, "k.csv")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			points, times = append(points, r.PointID), append(times, *r.Metric("kernel_time").Summary.Mean)
		}
		return points, times
	}
	alone, _ := read(nsysTable("kA", 3000))
	for _, other := range []string{"kA", "kB"} {
		points, times := read(nsysTable("kA", 3000) + "\n" + nsysTable(other, 6000))
		if !slices.Equal(times, []float64{3000, 6000}) || points[0] != alone[0] || points[1] != alone[0] {
			t.Errorf("%s: points %q with times %v, want two of %s with 3000 and 6000 ns", other, points, times, alone)
		}
		points, times = read(nsysTable("kA", 3000) + "## server B\n" + nsysTable(other, 6000))
		if !slices.Equal(times, []float64{3000, 6000}) || points[0] == points[1] {
			t.Errorf("%s: points %q with times %v, want two points with 3000 and 6000 ns", other, points, times)
		}
	}
}

func nsysTable(kernel string, time int) string {
	return fmt.Sprintf("Time (%%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n100.0,%d,1,%d.0,%d.0,%d,%d,0.0,%s\n", time, time, time, time, time, kernel)
}
