#include "tests/bench/json_bare.h"

#include <charconv>

size_t json_bare_print(const float *values, size_t count, char *text)
{
    char *at = text;

    for (size_t i = 0; i < count; i++) {
        at = std::to_chars(at, at + 16, values[i]).ptr;
        *at++ = ',';
    }
    return (size_t)(at - text);
}

void json_bare_read(const char *text, size_t size, float *values, size_t count)
{
    const char *end = text + size;

    for (size_t i = 0; i < count; i++)
        text = std::from_chars(text, end, values[i]).ptr + 1;
}
