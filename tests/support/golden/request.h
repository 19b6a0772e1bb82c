/* golden_request: a golden case as the request that a client would send, in each form. */
#ifndef TESTS_SUPPORT_GOLDEN_REQUEST_H
#define TESTS_SUPPORT_GOLDEN_REQUEST_H

#include "tests/support/golden/golden.h"
#include "tests/support/http/body.h"

#include <stdbool.h>
#include <stddef.h>

/* Protocol v2 has no complex type: there the client sends floats with a trailing 2, and gets such
 * an answer. Changes the case so; `memory` of RANK_MAX + 1 numbers must live as long as it. False
 * when it cannot be said that way, because it is about the type itself. */
bool golden_without_complex(struct golden_case *c, int64_t *memory);

/* The bodies; the caller frees them. `json_nonfinite` is `token` in JSON, so that every answer can
 * be said. */
bool golden_as_json(const struct golden_case *c, struct body *b);
bool golden_as_binary(const struct golden_case *c, struct body *b);

/* False when the format lacks a type of the case. */
bool golden_as_safetensors(const struct golden_case *c, struct body *b);

#endif
