/* slow_disk: preloaded into a server it lets every large read of a file wait while the file that
 * SLOW_DISK names is there. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    const char *slow = getenv("SLOW_DISK");
    while (size >= LARGE && slow && access(slow, F_OK) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    return syscall(SYS_pread64, fd, bytes, size, offset);
}
