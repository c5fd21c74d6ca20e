package schema

import "runtime"

// Catch calls parse and returns the error with which parse panicked, or nil if it did not panic. A parser whose functions have no
// context to add to an error stops at the first one by a panic, as the parser of text/template does, and Catch recovers it. Errors of
// the runtime, and values that are no errors, are mistakes of the program and panic on.
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
