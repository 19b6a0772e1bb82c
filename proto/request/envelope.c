#include "proto/request/envelope.h"

#include "proto/number/decimal.h"
#include "proto/request/tree_memory.h"

#include <stdio.h>
#include <string.h>

enum error_code envelope_parse(const cJSON **tree, const struct json_scan *scan,
                               struct memory *memory, struct error *error)
{
    tree_memory_begin(memory);
    *tree = cJSON_ParseWithLength(scan->envelope, scan->envelope_size);
    tree_memory_end();
    if (!*tree) /* the text is JSON: json_scan has seen to that */
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                         "there is no memory to read the request's JSON");
    if (cJSON_IsObject(*tree))
        return ERROR_NONE;
    char text[ENVELOPE_FOUND_MAX];
    return error_set(error, ERROR_INVALID_FIELD, NULL, "the JSON text is %s; expected an object",
                     envelope_found(text, *tree));
}

const cJSON *envelope_member(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNull(item) ? NULL : item;
}

static const char number_mark = JSON_NUMBER_MARK[0];

const char *envelope_string(const cJSON *item)
{
    return cJSON_IsString(item) && item->valuestring[0] != number_mark ? item->valuestring : NULL;
}

const char *envelope_number(const cJSON *item)
{
    return cJSON_IsString(item) && item->valuestring[0] == number_mark ? item->valuestring + 1
                                                                       : NULL;
}

bool envelope_size(const cJSON *item, int64_t *size)
{
    const char *number = envelope_number(item);
    return number && decimal_size(number, size);
}

const char *envelope_found(char *text, const cJSON *item)
{
    if (envelope_number(item))
        snprintf(text, ENVELOPE_FOUND_MAX, "%.64s", envelope_number(item));
    else if (envelope_string(item))
        snprintf(text, ENVELOPE_FOUND_MAX, "\"%.64s\"", envelope_string(item));
    else
        snprintf(text, ENVELOPE_FOUND_MAX, "%s",
                 cJSON_IsArray(item)    ? "an array"
                 : cJSON_IsObject(item) ? "an object"
                 : cJSON_IsTrue(item)   ? "true"
                 : cJSON_IsFalse(item)  ? "false"
                                        : "null");
    return text;
}

enum error_code envelope_wrong(const char *input, const char *name, const cJSON *item,
                               const char *expected, struct error *error)
{
    char text[ENVELOPE_FOUND_MAX];
    return error_set(error, ERROR_INVALID_FIELD, input, "%s%s%s is %s; expected %s", name,
                     input ? " of " : "", input ? input : "", envelope_found(text, item), expected);
}
