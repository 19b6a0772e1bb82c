/* entry: one entry of the stream, a request to a tensord. Its fields, whose names are in lower
 * case, each at most once:
 *
 *   path                             required: path and query, such as
 *                                    /v2/models/tensor_scatter_add/infer?tensor=emb&into=emb
 *   method                           POST (also without the field), PUT, PATCH or DELETE
 *   body                             any bytes
 *   content-type                     as HTTP's headers of these names
 *   content-encoding
 *   inference-header-content-length
 *
 *   redis-cli XADD updates '*' path '/v2/models/tensor_scatter_add/infer?tensor=emb&into=emb' \
 *       body '{"parameters": {"bad_indices_policy": "ERROR"}, "inputs": {...}}'
 *
 * The same entries must do the same to every server, whenever they come: so an entry has no
 * condition, no ttl, no timeout and no key, and says bad_indices_policy where the operation has
 * indices. What one entry reads beside the tensor that it writes must be written by the same
 * stream. */
#ifndef SERVER_FOLLOW_ENTRY_H
#define SERVER_FOLLOW_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redisReply;

/* "1764720000000-0": milliseconds since 1970 by Redis' clock, and a count among those. */
struct entry_id {
    uint64_t ms, count;
};

enum { ENTRY_ID_MAX = 48 };

/* 17 is 17-0. False: it is none. */
bool entry_id_parse(struct entry_id *id, const char *text);
void entry_id_print(const struct entry_id *id, char *text); /* into ENTRY_ID_MAX bytes */
int entry_id_compare(const struct entry_id *a, const struct entry_id *b);

enum entry_header { ENTRY_TYPE, ENTRY_ENCODING, ENTRY_HEADER_LENGTH, ENTRY_HEADERS };

/* Views into the reply; texts end with NUL. */
struct entry {
    struct entry_id id;
    const char *method, *path;
    const char *headers[ENTRY_HEADERS]; /* NULL: none */
    const char *body;
    size_t body_size;
};

/* HTTP's name of it. */
const char *entry_header_name(enum entry_header header);

/* Reads [id, [name, value, ...]]. NULL: it is a request; else why it is none, and then only the id
 * holds. False in *has_id: not even that; the reply is not one of a stream. */
const char *entry_read(struct entry *entry, const struct redisReply *reply, bool *has_id);

#endif
