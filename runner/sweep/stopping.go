package sweep

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The orders of Sweep.Order.
const (
	OrderInterleaved = "interleaved" // all blocks, then all blocks again; the order within a block is drawn
	orderRandom      = "random"      // the same with the blocks shuffled in each repeat
	orderSequential  = "sequential"  // a point with all its repeats, then the next point
)

// defaultMaxRepeats bounds the repeats that a precision may take.
const defaultMaxRepeats = 20

func (s *settings) readOrder(d *document) error {
	s.sweep.Order = OrderInterleaved
	f := d.choose("order")
	if !f.given() {
		return nil
	}
	return s.read("order", f)
}

// readPrecision reads rel_error. It and iterations exclude each other; of one in the file and one on the command line
// the latter is meant.
func (s *settings) readPrecision(d *document) error {
	f, option := d.keys["rel_error"], d.option("rel_error")
	exact := d.keys["iterations"]
	switch {
	case option.given() && d.option("iterations").given():
		return option.errorf("cannot be combined with --iterations, which is an exact number: use one of them")
	case option.given():
		if _, err := parseShare(option.Value); err != nil {
			return fmt.Errorf("--rel-error %w", err)
		}
		s.point.Iterations = 0
		f = option
	case !f.given() || d.option("iterations").given():
		return nil
	case exact.given():
		return f.errorf("cannot be combined with iterations (line %d), which is an exact number: use one of them", exact.line)
	}
	err := s.read("rel_error", f)
	s.sweep.RelError = s.point.RelError
	return err
}

// readMaxRepeats reads how many repeats rel_error may take; the repeats and it are read.
func (s *settings) readMaxRepeats(d *document) error {
	s.sweep.MaxRepeats = s.point.Repeats
	f := d.choose("max_repeats")
	if d.over.UntilConclusive {
		return s.readLooks(f)
	}
	if s.point.RelError == 0 {
		unused := f.given() && !(f.lines && d.keys["rel_error"].given()) // --iterations may have replaced rel_error
		if unused {
			return f.errorf("has no effect without rel_error or --until-conclusive")
		}
		return nil
	}
	if !f.given() {
		s.sweep.MaxRepeats = max(s.point.Repeats, defaultMaxRepeats)
		return nil
	}
	if err := s.read("max_repeats", f); err != nil {
		return err
	}
	if s.sweep.MaxRepeats < s.point.Repeats {
		return f.errorf("want at least repeats (%d), got %d", s.point.Repeats, s.sweep.MaxRepeats)
	}
	return nil
}

// minLook is the number of repeats before the first look. defaultMaxConclusive is the maximum number of repeats of a point that
// stays inconclusive, if max_repeats is not set.
const (
	minLook              = defaultRepeatsAgainst
	defaultMaxConclusive = 30
)

// readLooks plans when a comparison of two commits is looked at: f is how many repeats it may take.
func (s *settings) readLooks(f field) error {
	limit := defaultMaxConclusive
	if f.given() {
		if err := s.read("max_repeats", f); err != nil {
			return err
		}
		if limit = s.sweep.MaxRepeats; limit < minLook {
			return f.errorf("want at least %d with --until-conclusive, got %d", minLook, limit)
		}
	}
	s.sweep.Looks = looks(limit)
	s.point.Repeats, s.sweep.MaxRepeats = s.sweep.Looks[0], limit
	return nil
}

// looks are the numbers of repeats after which there is a look, the last of which is limit: 6, 9, 14, 20, 30. Each is about
// half as many again as the one before it. Few looks leave more of the chance of an error to each, and a point that is
// settled between two of them has a third of its repeats too many at most.
func looks(limit int) []int {
	const (
		growth    = 1.5
		minGrowth = 1.25 // less is no look of its own
	)
	var all []int
	for n := float64(minLook); minGrowth*n <= float64(limit); n *= growth {
		all = append(all, int(math.Round(n)))
	}
	return append(all, limit)
}

// share is a part of a whole: 1% or 0.01.
func (f field) share() (float64, error) {
	const expected = "a share (1% or 0.01)"
	if f.Kind != yaml.ScalarNode || f.ShortTag() == "!!str" && !strings.HasSuffix(f.Value, "%") {
		return 0, f.want(expected)
	}
	value, err := parseShare(f.Value)
	if err != nil {
		return 0, f.want(expected)
	}
	if err := checkShare(value); err != nil {
		return 0, f.errorf("%v", err)
	}
	return value, nil
}

// parseShare reads a part of a whole: 1% or 0.01 is 0.01. The error is of a text that is none; readText checks whether
// the share makes sense.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%q: want a share such as 1%%", text)
	}
	if percent {
		value /= 100
	}
	return value, nil
}

func checkShare(value float64) error {
	if !(value > 0 && value < 1) { // NaN too
		return fmt.Errorf("want more than 0 and less than 1 (100%%), got %v", value)
	}
	return nil
}
