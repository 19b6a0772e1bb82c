/* stall: preloaded into a server it lets a job never end: who clears much memory at a time, as a
 * worker does and nobody else, says "stalled" and waits for ever. */
#include <string.h>
#include <unistd.h>

enum { MUCH = 256 * 1024 };

void *memset(void *to, int value, size_t size)
{
    static const char said[] = "stalled\n";
    volatile char *bytes = to; /* volatile: or the loop would become a call of memset */
    if (size >= MUCH && write(STDERR_FILENO, said, sizeof said - 1) > 0)
        for (;;)
            pause();
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)value;
    return to;
}
