// A driver library with two GPUs for tests. -DOLD leaves out a function that old drivers lack, -DBROKEN the first
// one of all, -DHANG never comes back, -DINIT=n fails with that code, -DLOST loses the second GPU, -DSTALL does not come
// back from the second question about a clock, -DDIE ends there, -DBUSY=pid puts processes on the second GPU. -DREPLAY="file" replays
// a text: a line has the name of a quantity and what its calls return, one after the other. The last word holds for all further calls: a number,
// +number (that much more each time), - (not supported), lost (the GPU is lost), hang (the call does not return) or die (the process ends). -DNO_ENERGY leaves out the
// energy counter, -DNO_FIELDS the instantaneous power. MIG-1 is an instance of the first GPU.
#include <stdio.h>
#include <stdlib.h>
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

static int devices[3] = {0, 1, 0};
#define INSTANCE (&devices[2])

#ifdef REPLAY
// replay returns the next value of a quantity of a device: "power" or, of the second GPU, "power.1".
static int replay(const char *quantity, void *device, unsigned long long *value) {
	static struct { char name[32]; int calls; } seen[64];
	char name[32], line[4096];
	snprintf(name, sizeof name, device == &devices[1] ? "%s.1" : "%s", quantity);
	int i = 0;
	while (seen[i].name[0] && strcmp(seen[i].name, name)) i++;
	strcpy(seen[i].name, name);
	int left = seen[i].calls++;
	FILE *f = fopen(REPLAY, "r");
	while (f && fgets(line, sizeof line, f)) {
		char *word = strtok(line, " \n");
		if (!word || strcmp(word, name)) continue;
		*value = 0;
		for (char *next = strtok(NULL, " \n"); next; next = strtok(NULL, " \n")) {
			word = next;
			if (*word != '+') *value = strtoull(word, NULL, 10);
			if (left-- == 0) break;
		}
		fclose(f);
		if (*word == '+') *value += strtoull(word + 1, NULL, 10) * (left + 2);
		if (!strcmp(word, "hang")) sleep(600);
		if (!strcmp(word, "die")) _exit(1);
		return !strcmp(word, "-") ? NOT_SUPPORTED : !strcmp(word, "lost") ? GPU_IS_LOST : 0;
	}
	if (f) fclose(f);
	return NOT_SUPPORTED;
}

static int replay32(const char *quantity, void *device, unsigned *value) {
	unsigned long long v;
	int ret = replay(quantity, device, &v);
	*value = v;
	return ret;
}

typedef struct { unsigned gpu, memory; } utilization_t;
typedef struct {
	unsigned id, scope; long long timestamp, latency; unsigned type, ret;
	union { unsigned u; unsigned long long ull; } value;
} field_t;

int nvmlDeviceGetHandleByUUID(const char *uuid, void **d) {
	if (!strcmp(uuid, "MIG-1")) *d = INSTANCE;
	else if (!strcmp(uuid, "GPU-0") || !strcmp(uuid, "GPU-1")) *d = &devices[uuid[4] - '0'];
	else return 6; // not found
	return 0;
}
int nvmlDeviceIsMigDeviceHandle(void *d, unsigned *is) { *is = d == INSTANCE; return 0; }
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *d, void **gpu) { *gpu = &devices[0]; return 0; }
int nvmlDeviceGetUtilizationRates(void *d, utilization_t *u) {
	int ret = replay32("gpu_utilization", d, &u->gpu);
	return ret ? ret : replay32("memory_utilization", d, &u->memory);
}
int nvmlDeviceGetPowerUsage(void *d, unsigned *v) { return replay32("power", d, v); }
#ifndef NO_FIELDS
int nvmlDeviceGetFieldValues(void *d, int n, field_t *f) { f->ret = f->id == 186 ? replay32("power_instant", d, &f->value.u) : NOT_SUPPORTED; return 0; }
#endif
#ifndef NO_ENERGY
int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *v) { return replay("energy", d, v); }
#endif
#endif

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
int nvmlDeviceGetMemoryInfo(void *d, memory_t *m) {
	m->total = 85520809984;
#ifdef REPLAY
	return replay(d == INSTANCE ? "instance_memory" : "device_memory_used", d, &m->used);
#endif
	return 0;
}
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
#ifdef REPLAY
int nvmlDeviceGetClockInfo(void *d, int kind, unsigned *v) { return replay32(kind == 1 ? "clock_sm" : "clock_memory", d, v); }
int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *v) { return replay32("temperature", d, v); }
int nvmlDeviceGetCurrentClocksEventReasons(void *d, unsigned long long *v) { return replay("throttle", d, v); }
#else
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
