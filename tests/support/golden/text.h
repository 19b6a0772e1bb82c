/* golden_text: a line of a golden file, read piece by piece. Each function reads one thing and
 * moves behind it; what is not as expected ends the test. */
#ifndef TESTS_SUPPORT_GOLDEN_TEXT_H
#define TESTS_SUPPORT_GOLDEN_TEXT_H

#include "tests/support/golden/golden.h"

/* A place in the line. */
struct reader {
    struct golden *golden;
    const char *at;
};

_Noreturn void reader_fail(const struct reader *r, const char *expected);

/* Memory of the current case, which the line's length bounds: see golden_next. */
void *reader_take(struct reader *r, size_t bytes);

/* Whether the token comes next. */
bool reader_accept(struct reader *r, const char *token);

/* The token must come next. */
void reader_expect(struct reader *r, const char *token);

/* Between members or elements: true when another one follows. */
bool reader_more(struct reader *r, const char *close);

/* A string and the same as a C string, in the case's memory. */
struct span reader_string(struct reader *r);
const char *reader_name(struct reader *r);

/* Integers are exact to 64 bits; a double may be NaN or Infinity. */
int64_t reader_signed(struct reader *r);
uint64_t reader_unsigned(struct reader *r);
double reader_double(struct reader *r);

#endif
