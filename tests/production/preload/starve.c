/* starve: preloaded into a server it lets one allocation fail. The count of allocations up to that
 * one lies in the file that STARVE_LEFT names, shared with the test; 0: none fails. malloc and its
 * kin, and mmap as far as the program itself calls it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

static atomic_long *left;

static void *map(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

__attribute__((constructor)) static void share_count(void)
{
    const char *path = getenv("STARVE_LEFT");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = map(NULL, sizeof *left, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        abort();
    close(fd);
    left = shared;
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
    if (!left || atomic_load(left) <= 0 || is_excused(caller) || atomic_fetch_sub(left, 1) != 1)
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
    return map(address, size, protection, flags, fd, offset);
}
