#include "tests/support/proto/test_memory.h"

#include "kernels/limits.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct test_piece {
    struct test_piece *next;
    void *bytes;
};

static void *get(struct memory *memory, size_t bytes)
{
    struct test_memory *m = (struct test_memory *)memory; /* its first member */
    m->gets++;
    if (m->gets == m->fail_at || bytes > m->limit - m->bytes)
        return NULL;
    struct test_piece *piece = malloc(sizeof(*piece));
    assert(piece);
    if (posix_memalign(&piece->bytes, TENSOR_ALIGNMENT, bytes ? bytes : 1) != 0)
        abort();
    /* Contents are undefined: let code that trusts them fail the same way every time. */
    memset(piece->bytes, 0xA5, bytes < 65536 ? bytes : 65536);
    piece->next = m->pieces;
    m->pieces = piece;
    m->bytes += bytes;
    return piece->bytes;
}

void test_memory_init(struct test_memory *m)
{
    *m = (struct test_memory){.memory.get = get, .limit = SIZE_MAX};
    m->work = (struct work){.memory = &m->memory, .threads = 1};
}

void test_memory_clear(struct test_memory *m)
{
    while (m->pieces) {
        struct test_piece *piece = m->pieces;
        m->pieces = piece->next;
        free(piece->bytes);
        free(piece);
    }
    m->gets = 0;
    m->bytes = 0;
}
