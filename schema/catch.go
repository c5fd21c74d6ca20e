package schema

import "runtime"

// Catch calls parse and returns the error with which it panicked; nil: it did not. A parser whose functions have nothing to add to an error stops
// at the first one by a panic, as the parser of text/template does, and Catch calls it. Errors of the runtime, and values that are no errors,
// are mistakes of the program and panic on.
func Catch(parse func()) (err error) {
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
