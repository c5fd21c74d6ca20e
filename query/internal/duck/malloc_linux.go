package duck

/*
#include <malloc.h>

// keep tells glibc to keep freed memory. Other C libraries have no mallopt.
static void keep(int trim, int map) {
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, trim);
	mallopt(M_MMAP_THRESHOLD, map);
#endif
}

static void trim(void) {
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
*/
import "C"

// keepMemory makes the C library keep and reuse the memory that DuckDB frees. Otherwise quantiles of many runs spend a fifth of their time
// on getting the same pages from the system repeatedly. The peak memory is the same, except where Go needs much after DuckDB (Conn.Trim).
func keepMemory() {
	const trim, mapped = 256 << 20, 32 << 20 // bytes; the second is the maximum that glibc accepts
	C.keep(trim, mapped)
}

// trimMemory gives the memory that DuckDB freed back to the system.
func trimMemory() { C.trim() }
