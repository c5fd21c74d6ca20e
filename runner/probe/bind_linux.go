// This file lets github.com/NVIDIA/go-nvml call NVIDIA's management library without undefined symbols in the program.
//
// The binding leaves the functions of the library undefined when it is linked, and relies on the dynamic linker to find each one at
// its first call. A program like that does not start at all if it was linked with -z now, as hardened builds are, or if LD_BIND_NOW is
// set, and calling a function that the installed driver lacks ends the process. So every function is defined here (functions.h,
// calls_linux.c) as a jump through a pointer, which bindNVML sets to the function of the library. Until then, and for a function that
// the library lacks, it points to one that returns NVML_ERROR_FUNCTION_NOT_FOUND.

package probe

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// void neurolens_nvml_bind(const char *library);
import "C"

import "unsafe"

// bindNVML opens the library, a path or the name of a file that the dynamic linker finds, and makes its functions callable. It does
// nothing if the library cannot be opened: opening it with the binding then returns the error. It must not be called while another
// goroutine calls a function of the library.
func bindNVML(library string) {
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	C.neurolens_nvml_bind(name)
}
