package scan

import (
	"context"
	"iter"
	"sync"
)

// Prefetch calls use with each value, in order, while the next one is made by another goroutine. A value is made only after use has
// returned for the value before the last, so values may take turns in two pieces of memory.
//
// Prefetch ends with the first error of use, or with that of the context once it is cancelled. Then yield returns false for a value that is not
// used. Prefetch returns when no value is being made any more, so it waits for the one that is.
func Prefetch[T any](ctx context.Context, values iter.Seq[T], use func(T) error) error {
	wanted, stop := context.WithCancel(ctx)
	made := make(chan T)
	var maker sync.WaitGroup
	maker.Go(func() {
		defer close(made)
		for v := range values {
			select {
			case made <- v:
			case <-wanted.Done():
				return
			}
		}
	})
	err := useEach(ctx, made, use)
	stop()
	maker.Wait()
	return err
}

// useEach uses the values that are made, until there is an error.
func useEach[T any](ctx context.Context, made <-chan T, use func(T) error) error {
	for ctx.Err() == nil {
		v, ok := <-made
		if !ok {
			break
		}
		if err := use(v); err != nil {
			return err
		}
	}
	return ctx.Err()
}
