#include "server/follow/pause.h"

#include "server/base/clock.h"
#include "server/base/units.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

bool pause_init(struct pause *pause, uint64_t least_ns, uint64_t most_ns)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    *pause = (struct pause){.least_ns = least_ns, .most_ns = most_ns, .next_ns = least_ns};
    if (getrandom(&pause->random, sizeof pause->random, GRND_NONBLOCK) !=
        (ssize_t)sizeof pause->random)
        pause->random = clock_wall_ns() ^ (uint64_t)getpid();
    pause->random |= 1;
    pause->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return pause->signals >= 0;
}

void pause_release(struct pause *pause)
{
    close(pause->signals);
}

bool pause_ends(struct pause *pause)
{
    return !pause_for(pause, -1, 0, 0) && pause->is_over;
}

bool pause_for(struct pause *pause, int fd, short events, uint64_t ns)
{
    uint64_t end = clock_ns() + ns;
    for (;;) {
        struct pollfd polled[] = {{.fd = pause->signals, .events = POLLIN},
                                  {.fd = fd, .events = events}};
        uint64_t now = clock_ns(), left = now < end ? end - now : 0;
        int count = poll(polled, 2, (int)((left + MSEC - 1) / MSEC));
        pause->is_over |= count > 0 && polled[0].revents;
        if (pause->is_over || count == 0 || (count < 0 && errno != EINTR))
            return false;
        if (count > 0)
            return true;
    }
}

/* xorshift64. */
static uint64_t draw(struct pause *pause)
{
    pause->random ^= pause->random << 13;
    pause->random ^= pause->random >> 7;
    pause->random ^= pause->random << 17;
    return pause->random;
}

bool pause_repeat(struct pause *pause, uint64_t floor_ns)
{
    uint64_t half = pause->next_ns / 2, ns = half + draw(pause) % (half + 1);
    pause->next_ns = pause->next_ns < pause->most_ns / 2 ? pause->next_ns * 2 : pause->most_ns;
    pause_for(pause, -1, 0, ns > floor_ns ? ns : floor_ns);
    return !pause->is_over;
}

void pause_reset(struct pause *pause)
{
    pause->next_ns = pause->least_ns;
}
