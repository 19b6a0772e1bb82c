/* clock: what time it is, for durations and for people. */
#ifndef SERVER_BASE_CLOCK_H
#define SERVER_BASE_CLOCK_H

#include <stdint.h>

enum { CLOCK_TEXT_MAX = 32 };

/* Nanoseconds that only grow; for durations and deadlines. */
uint64_t clock_ns(void);

/* Nanoseconds since 1970, UTC; for people and logs. */
uint64_t clock_wall_ns(void);

/* clock_wall_ns in milliseconds, as of the system's last tick: cheaper to read. */
uint64_t clock_wall_ms(void);

/* "2026-12-01T09:30:00.123456789Z" into `text` of CLOCK_TEXT_MAX bytes. */
void clock_print(char *text, uint64_t wall_ns);

#endif
