/* preload: a server with a library of tests/production/preload in front of the C library's
 * functions, which makes it fail in ways that cannot be asked for otherwise. */
#ifndef TESTS_SUPPORT_HTTP_PRELOAD_H
#define TESTS_SUPPORT_HTTP_PRELOAD_H

#include "kernels/error.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Under a sanitizer, which has functions of its own there, nothing can be preloaded. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PRELOAD_WORKS false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PRELOAD_WORKS false
#endif
#endif
#ifndef PRELOAD_WORKS
#define PRELOAD_WORKS true
#endif

/* fixture_start_with, `library` being "stall.so". */
MUST_CHECK int preload_start(void **state, const char *library, const char *const *settings);

/* preload_start with "starve.so". The server's n-th allocation after **left became n fails; 0: none
 * does. *left stays mapped as long as the test runs. */
MUST_CHECK int starve_start(void **state, const char *const *settings, atomic_long **left);

#endif
