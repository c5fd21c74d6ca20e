package main

/*
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// What the runtime of Go needs: where it is less, it ends the process with pages of its own state before main begins.
enum { files_needed = 16, addresses_needed = 2048 };

static void refuse(const char *format, rlim_t has, int needed) {
	dprintf(2, format, (int)has, needed);
	_exit(6); // exitOther
}

// look runs before the runtime of Go does.
__attribute__((constructor)) static void look(void) {
	struct rlimit limit;
	// In the place of a closed stream the runtime opens /dev/null, which takes all that is written. This one takes nothing,
	// as a disk that is full.
	if (fcntl(1, F_GETFD) < 0 && errno == EBADF) {
		int null = open("/dev/null", O_RDONLY);
		if (null != 1)
			dup2(null, 1);
		if (null > 2)
			close(null);
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < files_needed)
		refuse("neurolens: %d files may be open at once (ulimit -n), and %d are needed\n", limit.rlim_cur, files_needed);
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur >> 20 < addresses_needed)
		refuse("neurolens: %d MiB of addresses may be used (ulimit -v), and %d are needed\n", limit.rlim_cur >> 20, addresses_needed);
}
*/
import "C"
