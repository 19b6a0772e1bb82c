#include "tests/bench/server_text.h"

#include <charconv>
#include <chrono>
#include <vector>

extern "C" double text_chars_seconds(const char *array, size_t size)
{
    static const size_t LONGEST = 16; /* text of a float32, with its comma */
    std::vector<float> values(size / 2 + 1, 1.0f);
    std::vector<char> text(size * 2 + LONGEST, 1);
    const char *end = array + size;
    const auto start = std::chrono::steady_clock::now();
    size_t count = 0;
    char *out = text.data();

    for (const char *at = array + 1; at < end; at++, count++) {
        const auto read = std::from_chars(at, end, values[count]);

        if (read.ec != std::errc())
            return -1;
        at = read.ptr;
    }
    for (size_t i = 0; i < count; i++) {
        out = std::to_chars(out, out + LONGEST, values[i]).ptr;
        *out++ = ',';
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
