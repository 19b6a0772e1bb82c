/* server_text: what it costs to read and to print the numbers of a JSON array with other means. */
#ifndef TESTS_BENCH_SERVER_TEXT_H
#define TESTS_BENCH_SERVER_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds for cJSON to parse this JSON and to print it again; -1 when it cannot. */
double text_cjson_seconds(const char *json, size_t size);

/* Seconds for one thread to read all numbers of an array with std::from_chars and to print them
 * again with std::to_chars, into memory that was touched before; -1 when it is no such array. */
double text_chars_seconds(const char *array, size_t size);

#ifdef __cplusplus
}
#endif

#endif
