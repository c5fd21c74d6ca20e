#include <dlfcn.h>
#include <stddef.h>

// The code of NVML_ERROR_FUNCTION_NOT_FOUND.
static int not_found(void) { return 13; }

// JUMP continues at the address that a variable holds, with registers and stack as the caller left them. x16 is the register that
// the procedure call standard of arm64 sets aside for such jumps.
#if defined(__x86_64__)
#define JUMP(variable) "jmp *" variable "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(variable) "adrp x16, " variable "\nldr x16, [x16, :lo12:" variable "]\nbr x16\n"
#endif

// Each function is hidden: a library that is loaded into the process must find those of NVIDIA's library.
#define FUNCTION(name)                                                                                   \
	__attribute__((visibility("hidden"))) void *neurolens_at_##name = (void *)not_found;               \
	__asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n"     \
		JUMP("neurolens_at_" #name) ".size " #name ", .-" #name "\n");
#include "functions.h"
#undef FUNCTION

static const struct {
	const char *name;
	void **at;
} functions[] = {
#define FUNCTION(name) {#name, &neurolens_at_##name},
#include "functions.h"
#undef FUNCTION
};

void neurolens_nvml_bind(const char *library) {
	void *handle = dlopen(library, RTLD_LAZY | RTLD_GLOBAL);
	if (handle == NULL) {
		return;
	}
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		void *found = dlsym(handle, functions[i].name);
		if (found != NULL) {
			*functions[i].at = found;
		}
	}
}
