// Package catch is for parsers, which stop at the first error and whose functions mostly have nothing to add to it: they panic with the error,
// as those of text/template/parse do, and what calls the parser returns it.
package catch

import "runtime"

// Error calls parse and returns the error with which it panicked; nil: it did not. Errors of the runtime, and values that are no errors, are
// mistakes of the program and panic on.
func Error(parse func()) (err error) {
	defer func() {
		switch stopped := recover().(type) {
		case nil:
		case runtime.Error:
			panic(stopped)
		case error:
			err = stopped
		default:
			panic(stopped)
		}
	}()
	parse()
	return nil
}
