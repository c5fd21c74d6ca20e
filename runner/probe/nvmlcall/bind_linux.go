package nvmlcall

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// void neurolens_nvml_bind(const char *library);
import "C"

import "unsafe"

// Bind opens the library, a path or the name of a file that the dynamic linker finds, and makes its functions callable. It does nothing
// if the library cannot be opened: opening it with the binding then says why. It must not be called while another goroutine
// calls a function of the library.
func Bind(library string) {
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	C.neurolens_nvml_bind(name)
}
