package scan_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/neurolens/neurolens/query/internal/scan"
)

// counting yields 0 up to n, and sets ended when it returns.
func counting(n int, ended *bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		defer func() { *ended = true }()
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// TestEach: values are used in order, and none of them is an error.
func TestEach(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 1000} {
		var got []int
		ended := false
		err := scan.Prefetch(t.Context(), counting(n, &ended), func(i int) error {
			got = append(got, i)
			return nil
		})
		if want := slices.Collect(counting(n, &ended)); err != nil || !slices.Equal(got, want) || !ended {
			t.Errorf("%d values: %v, %v, ended %v", n, got, err, ended)
		}
	}
}

// TestEachTwoMemories: values may take turns in two pieces of memory, because none is made before the one before the last was used. The race
// detector would find it, too.
func TestEachTwoMemories(t *testing.T) {
	t.Parallel()
	var memory [2]int
	values := func(yield func(*int) bool) {
		for i := range 1000 {
			memory[i%2] = i
			if !yield(&memory[i%2]) {
				return
			}
		}
	}
	next := 0
	err := scan.Prefetch(t.Context(), values, func(v *int) error {
		if *v != next {
			t.Errorf("got %d, want %d", *v, next)
		}
		next++
		return nil
	})
	if err != nil || next != 1000 {
		t.Errorf("%d values, %v", next, err)
	}
}

// TestEachMakesAhead: one value is made while another is used, and only one.
func TestEachMakesAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		made := 0
		values := func(yield func(int) bool) {
			for i := range 10 {
				if made++; !yield(i) {
					return
				}
			}
		}
		err := scan.Prefetch(t.Context(), values, func(i int) error {
			synctest.Wait()
			if want := min(i+2, 10); made != want {
				t.Errorf("while value %d was used, %d were made, want %d", i, made, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestEachError: the error of use ends it, and no value is used or made after that.
func TestEachError(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	used, ended := 0, false
	err := scan.Prefetch(t.Context(), counting(1000, &ended), func(i int) error {
		if used++; i == 3 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || used != 4 || !ended {
		t.Errorf("%v after %d values, ended %v", err, used, ended)
	}
}

// TestEachCancelled: a cancelled context ends it, before the first value too.
func TestEachCancelled(t *testing.T) {
	t.Parallel()
	for _, last := range []int{0, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		if last == 0 {
			cancel()
		}
		used, ended := 0, false
		err := scan.Prefetch(ctx, counting(1000, &ended), func(i int) error {
			if used++; used == last {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || used != last || !ended {
			t.Errorf("%v after %d values, want %d; ended %v", err, used, last, ended)
		}
		cancel()
	}
}

// TestEachUnused: yield returns false for the value that is made when an error comes, so that what it holds can be closed.
func TestEachUnused(t *testing.T) {
	t.Parallel()
	for range 100 {
		var open atomic.Int64
		values := func(yield func(int) bool) {
			for i := range 10 {
				if open.Add(1); !yield(i) {
					open.Add(-1)
					return
				}
			}
		}
		err := scan.Prefetch(t.Context(), values, func(i int) error {
			open.Add(-1)
			if i == 3 {
				return errors.New("the disk is full")
			}
			return nil
		})
		if err == nil || open.Load() != 0 {
			t.Fatalf("%v, and %d values were neither used nor refused", err, open.Load())
		}
	}
}
