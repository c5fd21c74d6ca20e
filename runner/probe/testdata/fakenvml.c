// A driver library with two GPUs for tests. -DOLD leaves out a function that old drivers lack, -DBROKEN the first
// one of all, -DHANG never comes back, -DINIT=n fails with that code, -DLOST loses the second GPU, -DSTALL does not come
// back from the second question about a clock, -DDIE ends there, -DBUSY=pid puts processes on the second GPU.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef INIT
#define INIT 0
#endif
#define NOT_SUPPORTED 3
#define INSUFFICIENT_SIZE 7
#define GPU_IS_LOST 15

typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; } pci_t;
typedef struct { unsigned pid; unsigned long long memory; unsigned gpu_instance, compute_instance; } process_t;
typedef struct { unsigned long long reference, violation; } violation_t;

static int devices[2] = {0, 1};

#ifndef BROKEN
int nvmlInit_v2(void) {
#ifdef HANG
	sleep(600);
#endif
	return INIT;
}
#endif
int nvmlSystemGetDriverVersion(char *v, unsigned n) { snprintf(v, n, "580.65.06"); return 0; }
int nvmlSystemGetCudaDriverVersion(int *v) { *v = 13020; return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) {
#ifdef LOST
	if (i == 1) return GPU_IS_LOST;
#endif
	*d = &devices[i];
	return 0;
}
int nvmlDeviceGetName(void *d, char *v, unsigned n) { snprintf(v, n, "NVIDIA H100 80GB HBM3"); return 0; }
int nvmlDeviceGetUUID(void *d, char *v, unsigned n) { snprintf(v, n, "GPU-%d", *(int *)d); return 0; }
int nvmlDeviceGetPciInfo_v3(void *d, pci_t *p) { strcpy(p->bus_id, "00000000:1B:00.0"); return 0; }
int nvmlDeviceGetMemoryInfo(void *d, memory_t *m) { m->total = 85520809984; return 0; }
int nvmlDeviceGetCudaComputeCapability(void *d, int *major, int *minor) { *major = 9; *minor = 0; return 0; }
#ifndef OLD
int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *v) { *v = 700000; return 0; }
#endif
int nvmlDeviceGetMemoryBusWidth(void *d, unsigned *v) { *v = 5120; return 0; }
int nvmlDeviceGetMaxClockInfo(void *d, int kind, unsigned *v) { *v = kind == 1 ? 1980 : 2619; return 0; }
int nvmlDeviceGetPersistenceMode(void *d, int *v) { *v = 1; return 0; }
int nvmlDeviceGetComputeMode(void *d, int *v) { *v = 3; return 0; }
int nvmlDeviceGetMigMode(void *d, unsigned *now, unsigned *later) { *now = 0; *later = 1; return 0; }
int nvmlDeviceGetEccMode(void *d, int *now, int *later) { return NOT_SUPPORTED; }
int nvmlDeviceGetClockInfo(void *d, int kind, unsigned *v) {
	static int asked;
	asked++;
#ifdef STALL
	if (asked > 2) sleep(600);
#endif
#ifdef DIE
	if (asked > 2) _exit(1);
#endif
	*v = kind == 1 ? 345 : 2619;
	return 0;
}
int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *v) { *v = 41; return 0; }
#ifdef OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *v) { *v = 1; return 0; }
#else
int nvmlDeviceGetCurrentClocksEventReasons(void *d, unsigned long long *v) { *v = *(int *)d ? 0x4 | 0x40 : 1; return 0; }
int nvmlDeviceGetViolationStatus(void *d, int limit, violation_t *v) {
	static unsigned long long spent = 1000;
	v->violation = limit ? 0 : (spent += 20000000);
	return 0;
}
#endif
#ifdef BUSY
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, process_t *p) {
	unsigned room = *n;
	*n = *(int *)d ? 3 : 0;
	if (*n > room) return INSUFFICIENT_SIZE;
	if (*n) { p[0].pid = BUSY; p[1].pid = 1; p[2].pid = 1; }
	return 0;
}
#endif
