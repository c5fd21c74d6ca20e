package stat

// scan gives the strongest change of each interval that steadyStart looks at.
func scan(series []float64, yield func(change)) {
	segmentation{least: segmentLeast}.scan(series, yield)
}
