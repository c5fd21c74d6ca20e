package summary

import (
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// Resource sums up the use of a resource other than time.
type Resource struct {
	Metric  string   `json:"metric" doc:"name of the metric"`
	Unit    Text     `json:"unit" doc:"unit of the metric"`
	Points  int      `json:"points" doc:"number of entries in points that have the metric"`
	Lowest  *float64 `json:"lowest" doc:"lowest value"`
	Median  *float64 `json:"median" doc:"median of the values"`
	Highest *float64 `json:"highest" doc:"highest value"`
	At      Subject  `json:"highest_at" doc:"point with the highest value"`
}

// resources are the metrics of resources other than time.
var resources = []string{"peak_memory", "peak_memory_cgroup", "device_memory_peak", "energy", "power"}

// resourcesOf sums up the resources of points per metric and unit.
func resourcesOf(points []Point) []Resource {
	all := []Resource{}
	for _, metric := range resources {
		values, highest := map[Text][]float64{}, map[Text]int{}
		var units []Text
		for i := range points {
			v := points[i].value(metric)
			if v == nil {
				continue
			}
			if at, ok := highest[v.Unit]; !ok {
				units, highest[v.Unit] = append(units, v.Unit), i
			} else if *v.Median > *points[at].value(metric).Median {
				highest[v.Unit] = i
			}
			values[v.Unit] = append(values[v.Unit], *v.Median)
		}
		for _, unit := range units {
			own := values[unit]
			slices.Sort(own)
			all = append(all, Resource{
				Metric: metric, Unit: unit, Points: len(own), Lowest: known(own[0]), Median: known(stat.Quantile(own, .5)), Highest: known(own[len(own)-1]),
				At: points[highest[unit]].Subject,
			})
		}
	}
	return all
}
