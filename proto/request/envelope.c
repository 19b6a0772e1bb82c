#include "proto/request/envelope.h"
#include "proto/request/tree_memory.h"

#include <stdio.h>
#include <string.h>

/* 2^53 - 1: the next one is also what 2^53 + 1 is read as. */
static const double exact_max = 9007199254740991.0;

/* Why cJSON gave up at `stop`: some versions copy a number into 63 characters, so a longer one ends
 * in the middle of its digits. All else that it refuses, the scan has refused before: then it was
 * short of memory. */
static enum error_code parse_failed(const char *text, const char *stop, struct error *error)
{
    static const char number[] = "0123456789.eE+-";
    if (stop > text && *stop && strchr(number, stop[0]) && strchr(number, stop[-1]))
        return error_set(error, ERROR_INVALID_JSON, NULL,
                         "a number outside of the tensors has more than 63 characters");
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                     "there is no memory to read the request's JSON");
}

enum error_code envelope_parse(const cJSON **tree, const struct json_scan *scan,
                               struct memory *memory, struct error *error)
{
    const char *stop = scan->envelope;
    tree_memory_begin(memory);
    *tree = cJSON_ParseWithLengthOpts(scan->envelope, scan->envelope_size, &stop, false);
    tree_memory_end();
    if (!*tree)
        return parse_failed(scan->envelope, stop, error);
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

bool envelope_size(const cJSON *item, int64_t *size)
{
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= exact_max))
        return false;
    *size = (int64_t)item->valuedouble;
    return (double)*size == item->valuedouble;
}

const char *envelope_found(char *text, const cJSON *item)
{
    if (cJSON_IsNumber(item))
        snprintf(text, ENVELOPE_FOUND_MAX, "%.17g", item->valuedouble);
    else if (cJSON_IsString(item))
        snprintf(text, ENVELOPE_FOUND_MAX, "\"%.64s\"", item->valuestring);
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
