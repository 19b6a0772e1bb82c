/* starve: preloaded into a server it lets one allocation fail: the n-th after a signal that brings
 * n. malloc and its kin, and mmap as far as the program itself calls it. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long left; /* 0: none fails */

static void arm(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    atomic_store(&left, info->si_value.sival_int);
}

__attribute__((constructor)) static void listen_for_orders(void)
{
    struct sigaction action = {.sa_sigaction = arm, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGRTMIN, &action, NULL);
}

/* GnuTLS and what is below it end the process when they find no memory (GnuTLS lets GNU MP abort,
 * libtasn1 follows a null pointer): nothing of ours could change that. */
static bool is_excused(const void *caller)
{
    static const char *const libraries[] = {"/libgnutls.", "/libgmp.", "/libtasn1."};
    Dl_info found;
    if (!dladdr(caller, &found) || !found.dli_fname)
        return false;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strstr(found.dli_fname, libraries[i]))
            return true;
    return false;
}

static bool fails(const void *caller)
{
    if (atomic_load(&left) <= 0 || is_excused(caller) || atomic_fetch_sub(&left, 1) != 1)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fails(__builtin_return_address(0)))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}
