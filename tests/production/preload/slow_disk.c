/* slow_disk: preloaded into a server it lets every large read of a file wait while the file that
 * SLOW_DISK names is there, and every fsync while the one that SLOW_SYNC names is. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };

static void wait_for(const char *variable)
{
    const char *slow = getenv(variable);
    while (slow && access(slow, F_OK) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    if (size >= LARGE)
        wait_for("SLOW_DISK");
    return syscall(SYS_pread64, fd, bytes, size, offset);
}

int fsync(int fd)
{
    wait_for("SLOW_SYNC");
    return (int)syscall(SYS_fsync, fd);
}
