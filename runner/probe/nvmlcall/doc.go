// Package nvmlcall lets github.com/NVIDIA/go-nvml call NVIDIA's management library without undefined symbols in the program.
//
// The binding leaves the functions of the library undefined when it is linked, and relies on the dynamic linker to find each one at
// its first call. A program like that does not start at all if it was linked with -z now, as hardened builds are, or if LD_BIND_NOW is
// set, and calling a function that the installed driver lacks ends the process. This package defines every function as a jump through
// a pointer, which Bind sets to the function of the library. Until then, and for a function that the library lacks, it points to one
// that returns NVML_ERROR_FUNCTION_NOT_FOUND.
package nvmlcall
