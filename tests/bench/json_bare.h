/* json_bare: the loops that our JSON is measured against: std::from_chars and std::to_chars over an
 * array of FP32, and nothing else. */
#ifndef TESTS_BENCH_JSON_BARE_H
#define TESTS_BENCH_JSON_BARE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prints values with a comma after each; returns the size. `text` has 16 bytes for each. */
size_t json_bare_print(const float *values, size_t count, char *text);

/* Reads what json_bare_print printed. */
void json_bare_read(const char *text, size_t size, float *values, size_t count);

#ifdef __cplusplus
}
#endif

#endif
