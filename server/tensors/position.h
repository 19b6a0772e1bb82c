/* position: how far each source of updates has come. A follower of a log repeats its entries after
 * a crash; an entry whose position is not above its source's last one was applied before. */
#ifndef SERVER_TENSORS_POSITION_H
#define SERVER_TENSORS_POSITION_H

#include "kernels/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { SOURCE_NAME_MAX = 64, POSITIONS_MAX = 64 };

/* "17-0", as logs number their entries; "17" is 17-0. */
struct position {
    char source[SOURCE_NAME_MAX + 1];
    uint64_t high, low;
};

struct positions {
    struct position *list;
    int count, room;
};

/* Reads the values of two headers, a source and a position, both NULL where absent: then `position`
 * has no source, "". Errors: INVALID_HEADER (a source that is not 1 to 64 letters, digits, '_', '.'
 * and '-'; a position that is not one number or two with '-'; one of the two without the other). */
MUST_CHECK enum error_code position_parse(struct position *position, const char *source,
                                          const char *text, struct error *error);

bool position_is_above(const struct position *a, const struct position *b);

/* Whether the entry at that position was applied before. */
bool positions_passed(const struct positions *positions, const struct position *position);

/* Makes room for one more source, so that the next positions_set cannot fail; false without memory
 * or where there are POSITIONS_MAX others. */
MUST_CHECK bool positions_reserve(struct positions *positions, const struct position *position);
void positions_set(struct positions *positions, const struct position *position);

/* Makes room for all of `from` and for `position`, so that positions_merge and then positions_set
 * cannot fail; false as positions_reserve. Without a source `position` is none. */
MUST_CHECK bool positions_reserve_all(struct positions *positions, const struct positions *from,
                                      const struct position *position);

/* Makes room for all of `from`, then takes over its positions that are further than the own ones;
 * false as positions_reserve. */
MUST_CHECK bool positions_merge(struct positions *positions, const struct positions *from);

void positions_release(struct positions *positions);

#endif
