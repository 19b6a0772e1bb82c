/* json_text: a text that a test printed, as cJSON's tree. */
#ifndef TESTS_SUPPORT_PROTO_JSON_TEXT_H
#define TESTS_SUPPORT_PROTO_JSON_TEXT_H

#include "proto/text.h"

#include <cjson/cJSON.h>

/* The tree of a text that must be whole and JSON; the caller deletes it. */
cJSON *json_text_parse(const struct text *text);

/* The member at a path like "inputs.0.name"; it must be there. */
const cJSON *json_text_at(const cJSON *item, const char *path);

#endif
