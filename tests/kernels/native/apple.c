/* Memory for machine code by the rules of Apple's processors, on Linux: a thread may either write it or run it, and begins
with running. Here that is so for all threads, by the rights of the pages. It comes before the code of the interpreter;
with REFUSED in the environment there is no such memory, as for a program without the entitlement. */

#include <stdlib.h>
#include <sys/mman.h>

#define __APPLE__ 1
#define MAP_JIT 0x800
#define mmap map_code

static struct {
    char *memory;
    size_t length;
    int writable;
} newest;

static void *(map_code)(void *address, size_t length, int rights, int kind, int file, off_t offset)
{
    if (rights != (PROT_READ | PROT_WRITE | PROT_EXEC) || kind != (MAP_PRIVATE | MAP_ANON | MAP_JIT)) abort();
    if (getenv("REFUSED")) return MAP_FAILED;
#undef mmap
    newest.memory = mmap(address, length, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANON, file, offset);
#define mmap map_code
    newest.length = length;
    return newest.memory;
}

static void pthread_jit_write_protect_np(int enabled)
{
    newest.writable = !enabled;
    if (mprotect(newest.memory, newest.length, PROT_READ | (enabled ? PROT_EXEC : PROT_WRITE))) abort();
}

static void sys_icache_invalidate(void *memory, size_t length)
{
    if (memory != newest.memory || length != newest.length || newest.writable) abort();
    __builtin___clear_cache(newest.memory, newest.memory + length);
}
