/* vocabulary: mistyped keys. The protocol wants unknown keys ignored; but a key that was meant as a
 * known one, for which a default would step in, is an error. Private to proto/request/. */
#ifndef PROTO_REQUEST_VOCABULARY_H
#define PROTO_REQUEST_VOCABULARY_H

#include "proto/request/envelope.h"

/* Another word that people use for a key. */
struct synonym {
    const char *word, *key;
};

/* The keys of an object. */
struct vocabulary {
    const char *const *keys;        /* NULL after the last */
    const struct synonym *synonyms; /* {NULL} after the last; NULL: none */
    const char *parameter;          /* key of the object `parameters` in it; NULL: none */
    enum error_code code;           /* of a mistyped key */
};

/* Errors: v->code for a key that is a synonym of a key that the object lacks, or near to one
 * (kernels/nearest.h); INVALID_PARAMETER for a parameter that stands in the wrong object. A key
 * whose value is null is absent. `where`: the object, e.g. "tensor". */
MUST_CHECK enum error_code request_check_keys(const cJSON *object, const struct vocabulary *v,
                                              const char *where, struct error *error);

#endif
