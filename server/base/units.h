/* units: of bytes and of times, which are kept in nanoseconds. */
#ifndef SERVER_BASE_UNITS_H
#define SERVER_BASE_UNITS_H

#include <stdint.h>

#define KIB  UINT64_C(1024)
#define MIB  (1024 * KIB)
#define GIB  (1024 * MIB)
#define TIB  (1024 * GIB)
#define MSEC UINT64_C(1000000)
#define SEC  (1000 * MSEC)
#define HOUR (3600 * SEC)

#endif
