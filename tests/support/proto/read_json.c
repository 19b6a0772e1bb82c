#include "tests/support/proto/read_json.h"

#include "tests/support/proto/quote.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void read_json_init(struct read_json *r, enum dtype dtype, int rank, const int64_t *shape)
{
    *r = (struct read_json){.tensor = {.dtype = dtype, .rank = rank}};
    test_memory_init(&r->memory);
    for (int i = 0; i < rank; i++)
        r->tensor.shape[i] = shape[i];
}

void read_json_data(struct read_json *r, const char *data)
{
    static const char head[] = "{\"inputs\":[{\"data\":", tail[] = "}]}";
    char *quoted = quote(data);
    size_t size = strlen(data);
    size_t whole = READ_JSON_AT + size + sizeof(tail) - 1;

    /* Exactly its size, without a terminator: a sanitizer sees each byte too far. */
    r->text = malloc(whole);
    assert(r->text && sizeof(head) - 1 == READ_JSON_AT);
    memcpy(r->text, head, READ_JSON_AT);
    memcpy(r->text + READ_JSON_AT, quoted, size);
    memcpy(r->text + READ_JSON_AT + size, tail, sizeof(tail) - 1);
    free(quoted);
    r->code = json_scan(&r->scan, r->text, whole, whole, &r->memory.work, &r->error);
    if (!r->code)
        r->code =
            json_tensor_read(&r->tensor, "tensor", &(struct json_value){&r->scan, 0, r->untyped},
                             &r->memory.work, &r->bare, &r->error);
}

void read_json_release(struct read_json *r)
{
    test_memory_clear(&r->memory);
    free(r->text);
}
