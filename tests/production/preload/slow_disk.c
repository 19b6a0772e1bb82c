/* slow_disk: preloaded into a server it lets every large read of a file take a while. */
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 1 << 20, MS = 150 };

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    if (size >= LARGE)
        nanosleep(&(struct timespec){.tv_nsec = MS * 1000000L}, NULL);
    return syscall(SYS_pread64, fd, bytes, size, offset);
}
