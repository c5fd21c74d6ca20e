package duck

/*
#include <malloc.h>

static void trim(void) {
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
*/
import "C"

// trimMemory gives the memory that DuckDB freed back to the system.
func trimMemory() { C.trim() }
