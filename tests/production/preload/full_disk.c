/* full_disk: preloaded into a server it lets writes to files that the process created fail as on a
 * full disk, half of each written, while the file that FULL_DISK names is there. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILES = 4096 };

static bool is_created[FILES];

int openat(int folder, const char *name, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    int fd = (int)syscall(SYS_openat, folder, name, flags, mode);
    if (fd >= 0 && fd < FILES)
        is_created[fd] = flags & O_CREAT;
    return fd;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    const char *full = getenv("FULL_DISK");
    if (fd < 0 || fd >= FILES || !is_created[fd] || !full || access(full, F_OK) != 0)
        return syscall(SYS_write, fd, bytes, size);
    if (size > 1)
        return syscall(SYS_write, fd, bytes, size / 2);
    errno = ENOSPC;
    return -1;
}
