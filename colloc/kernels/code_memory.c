/* Memory with machine code that can be run and not be written, as the system gives it. */

#include <stddef.h>
#include <string.h>

#ifdef _WIN32

/* Declared here, as windows.h defines words such as `near`. */
__declspec(dllimport) void *__stdcall VirtualAlloc(void *address, size_t size, unsigned long kind, unsigned long access);
__declspec(dllimport) int __stdcall VirtualProtect(void *address, size_t size, unsigned long access, unsigned long *old);
__declspec(dllimport) int __stdcall VirtualFree(void *address, size_t size, unsigned long kind);
enum { COMMIT_AND_RESERVE = 0x3000, RELEASE = 0x8000, READ_WRITE = 0x04, EXECUTE_READ = 0x20 };

static UNUSED void free_code(machine_code *code, UNUSED size_t length) { VirtualFree((void *)code, 0, RELEASE); }

/* New memory with code; null where the system gives none. */
static UNUSED machine_code *new_code(const uint8_t *code, size_t length)
{
    unsigned long before;
    void *memory = VirtualAlloc(0, length, COMMIT_AND_RESERVE, READ_WRITE);
    if (!memory) return 0;
    memcpy(memory, code, length);
    if (VirtualProtect(memory, length, EXECUTE_READ, &before)) return (machine_code *)memory;
    free_code((machine_code *)memory, length);
    return 0;
}

#else
#include <sys/mman.h>

static UNUSED void free_code(machine_code *code, size_t length) { munmap((void *)code, length); }

#ifdef __APPLE__
/* The hardened runtime kills a process that runs other memory. It gives memory of this kind to those that have the
entitlement com.apple.security.cs.allow-jit, and an error to all others. */
enum { KIND = MAP_PRIVATE | MAP_ANON | MAP_JIT };
#else
enum { KIND = MAP_PRIVATE | MAP_ANONYMOUS };
#endif

#if defined(__APPLE__) && defined(__aarch64__)
#include <libkern/OSCacheControl.h>

/* A thread may either write such memory or run it, as a new thread does. The rights of its pages do not change. */
enum { RIGHTS = PROT_READ | PROT_WRITE | PROT_EXEC };
static UNUSED void allow_writing(int allowed) { pthread_jit_write_protect_np(!allowed); }
static UNUSED int allow_running(UNUSED void *memory, UNUSED size_t length) { return 1; }
static UNUSED void forget_instructions(void *memory, size_t length) { sys_icache_invalidate(memory, length); }
#else
enum { RIGHTS = PROT_READ | PROT_WRITE };
static UNUSED void allow_writing(UNUSED int allowed) {}
static UNUSED int allow_running(void *memory, size_t length)
{
    return !mprotect(memory, length, PROT_READ | PROT_EXEC);
}
static UNUSED void forget_instructions(void *memory, size_t length)
{
    __builtin___clear_cache((char *)memory, (char *)memory + length);
}
#endif

/* New memory with code; null where the system gives none. */
static UNUSED machine_code *new_code(const uint8_t *code, size_t length)
{
    void *memory = mmap(0, length, RIGHTS, KIND, -1, 0);
    if (memory == MAP_FAILED) return 0;
    allow_writing(1);
    memcpy(memory, code, length);
    allow_writing(0);
    if (allow_running(memory, length)) {
        forget_instructions(memory, length); /* that were at the address before: ARM reads them apart from data */
        return (machine_code *)memory;
    }
    free_code((machine_code *)memory, length);
    return 0;
}

#endif

#ifdef __linux__
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* A line for perf, which looks for symbols of code without a file there. */
static UNUSED void tell_perf(machine_code *code, size_t length, const char *name)
{
    const char *wished = getenv("COLLOC_PERF_MAP");
    char path[40], line[200];
    if (!wished || !*wished) return;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return;
    int size = snprintf(line, sizeof line, "%llx %zx colloc:%.100s\n", (unsigned long long)(uintptr_t)code, length, name);
    if (write(file, line, size) != size) {} /* it is for a look */
    close(file);
}

#else
static UNUSED void tell_perf(UNUSED machine_code *code, UNUSED size_t length, UNUSED const char *name) {}
#endif
