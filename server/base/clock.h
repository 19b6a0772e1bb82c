/* clock: what time it is, for durations and for people. */
#ifndef SERVER_BASE_CLOCK_H
#define SERVER_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds that only grow; for durations and deadlines. */
uint64_t clock_ns(void);

/* Nanoseconds since 1970, UTC; for people and logs. */
uint64_t clock_wall_ns(void);

/* clock_wall_ns in milliseconds, as of the system's last tick: cheaper to read. */
uint64_t clock_wall_ms(void);

enum { CLOCK_TEXT_SIZE = 30 };

/* A time as text; starts as zeros. */
struct clock_text {
    uint64_t second;
    char text[CLOCK_TEXT_SIZE + 1]; /* "2026-12-01T09:30:00.123456789Z" */
};

/* Prints a time. A text of the same second before costs little to print over. */
void clock_print(struct clock_text *to, uint64_t wall_ns);

#endif
