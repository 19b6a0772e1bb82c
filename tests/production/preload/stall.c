/* stall: preloaded into a server it lets a job never end: who clears much memory at a time, as a
 * worker does and nobody else, waits for ever. */
#include <string.h>
#include <unistd.h>

enum { MUCH = 256 * 1024 };

void *memset(void *to, int value, size_t size)
{
    volatile char *bytes = to; /* volatile: or the loop would become a call of memset */
    while (size >= MUCH)
        pause();
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)value;
    return to;
}
