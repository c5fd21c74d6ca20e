package duck

/*
#include <malloc.h>

// keep tells the C library to keep what is freed. It is other than glibc where there is no mallopt.
static void keep(int trim, int map) {
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, trim);
	mallopt(M_MMAP_THRESHOLD, map);
#endif
}
*/
import "C"

// keepMemory makes the C library keep the memory that DuckDB frees, to give it out again: quantiles of many runs
// otherwise spend a fifth of their time on getting the same pages from the system again and again. The peak is the same.
func keepMemory() {
	const trim, mapped = 256 << 20, 32 << 20 // bytes; the second is the most that glibc takes
	C.keep(trim, mapped)
}
