package chart

import "time"

// timeSteps are how far ticks of time may lie apart: months where there are any, else a duration.
var timeSteps = []struct {
	months int
	apart  time.Duration
	layout string
}{
	{0, time.Second, "15:04:05"},
	{0, 5 * time.Second, "15:04:05"},
	{0, 15 * time.Second, "15:04:05"},
	{0, time.Minute, "15:04"},
	{0, 5 * time.Minute, "15:04"},
	{0, 15 * time.Minute, "15:04"},
	{0, time.Hour, "15:04"},
	{0, 3 * time.Hour, "01-02 15:04"},
	{0, 6 * time.Hour, "01-02 15:04"},
	{0, 12 * time.Hour, "01-02 15:04"},
	{0, 24 * time.Hour, time.DateOnly},
	{0, 2 * 24 * time.Hour, time.DateOnly},
	{0, 7 * 24 * time.Hour, time.DateOnly},
	{0, 14 * 24 * time.Hour, time.DateOnly},
	{1, 0, time.DateOnly},
	{2, 0, time.DateOnly},
	{3, 0, "2006-01"},
	{6, 0, "2006-01"},
	{12, 0, "2006"},
	{24, 0, "2006"},
	{60, 0, "2006"},
	{120, 0, "2006"},
}

// timeTicks are round times, in UTC.
func (s AxisScale) timeTicks(most int) []Tick {
	for _, step := range timeSteps {
		if step.months == 0 && (s.High-s.Low)/step.apart.Seconds() > float64(max(most, 1)+1) {
			continue
		}
		var ticks []Tick
		for t := first(at(s.Low), step.months, step.apart); seconds(t) <= s.High && len(ticks) <= most; {
			if seconds(t) >= s.Low {
				ticks = append(ticks, Tick{seconds(t), t.Format(step.layout)})
			}
			if step.months > 0 {
				t = t.AddDate(0, step.months, 0)
			} else {
				t = t.Add(step.apart)
			}
		}
		if len(ticks) <= most {
			return ticks
		}
	}
	return nil
}

// first is the last round time up to t.
func first(t time.Time, months int, apart time.Duration) time.Time {
	if months == 0 {
		return t.Truncate(apart)
	}
	since := t.Year()*12 + int(t.Month()) - 1
	since -= since % months
	return time.Date(since/12, time.Month(since%12+1), 1, 0, 0, 0, 0, time.UTC)
}

func at(v float64) time.Time { return time.Unix(0, int64(v*1e9)).UTC() }

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
