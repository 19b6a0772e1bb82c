#include "proto/request/json.h"

#include "proto/request/vocabulary.h"

#include <stdio.h>
#include <string.h>

static const char output_name[] = "output";

static const char *const request_keys[] = {"inputs", "parameters", "outputs", "id", NULL};
static const struct synonym request_synonyms[] = {
    {"params", "parameters"}, {"options", "parameters"}, {NULL, NULL}};
static const struct vocabulary request_vocabulary = {request_keys, request_synonyms, NULL,
                                                     ERROR_INVALID_FIELD};

static const char *const output_keys[] = {"name", "parameters", NULL};
static const struct vocabulary output_vocabulary = {output_keys, NULL, "binary_data",
                                                    ERROR_INVALID_FIELD};

static const char *const output_parameter_keys[] = {
    "binary_data", "shared_memory_region", "shared_memory_byte_size", "shared_memory_offset", NULL};
static const struct vocabulary output_parameters = {output_parameter_keys, NULL, NULL,
                                                    ERROR_INVALID_PARAMETER};
/* Whether the parameters name a shared memory region, as Triton's clients do; a region is a kept
 * tensor here. */
static bool says_region(const cJSON *parameters, const char *name)
{
    return envelope_member(parameters, "shared_memory_region") &&
           (strcmp(name, "shared_memory_region") == 0 ||
            strcmp(name, "shared_memory_byte_size") == 0 ||
            strcmp(name, "shared_memory_offset") == 0);
}

enum error_code request_json_refuse(const cJSON *parameters, struct error *error)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, parameters)
    {
        enum error_code code = says_region(parameters, item->string)
                                   ? ERROR_NONE
                                   : request_refuse_parameter(item->string, error);
        if (code)
            return code;
    }
    return ERROR_NONE;
}

/* A number of bytes; 0 where it is absent. */
static enum error_code read_region_size(const cJSON *parameters, const char *name, size_t *size,
                                        struct error *error)
{
    const cJSON *item = envelope_member(parameters, name);
    int64_t value = 0;
    if (item && !envelope_size(item, &value))
        return envelope_wrong(NULL, name, item, "an integer from 0 to 2^53 - 1", error);
    *size = (size_t)value;
    return ERROR_NONE;
}

enum error_code request_json_region(struct reference *reference, const cJSON *parameters,
                                    struct error *error)
{
    const cJSON *name = envelope_member(parameters, "shared_memory_region");
    if (!name)
        return ERROR_NONE;
    if (!envelope_string(name))
        return envelope_wrong(NULL, "shared_memory_region", name, "the name of a tensor", error);
    reference->is_region = true;
    enum error_code code =
        request_reference(reference, envelope_string(name), "shared_memory_region", error);
    if (!code)
        code = read_region_size(parameters, "shared_memory_byte_size", &reference->region_bytes,
                                error);
    return code ? code
                : read_region_size(parameters, "shared_memory_offset", &reference->region_offset,
                                   error);
}

static struct parameter parameter_of(const cJSON *item)
{
    struct parameter p = {.kind = PARAMETER_OTHER};
    if (envelope_string(item))
        p = (struct parameter){.kind = PARAMETER_TEXT, .text = envelope_string(item)};
    else if (envelope_number(item))
        p = (struct parameter){.kind = PARAMETER_NUMBER, .text = envelope_number(item)};
    else if (cJSON_IsBool(item))
        p = (struct parameter){.kind = PARAMETER_TRUTH, .truth = cJSON_IsTrue(item)};
    return p;
}

static enum error_code read_parameters(struct decode *d, const cJSON *parameters,
                                       struct error *error)
{
    const cJSON *item;
    if (!cJSON_IsObject(parameters))
        return envelope_wrong(NULL, "parameters", parameters, "an object", error);
    cJSON_ArrayForEach(item, parameters)
    {
        struct parameter value = parameter_of(item);
        enum error_code code =
            cJSON_IsNull(item) ? ERROR_NONE : request_parameter(d, item->string, &value, error);
        if (code)
            return code;
    }
    return ERROR_NONE;
}

static enum error_code read_id(struct decode *d, const cJSON *id, struct error *error)
{
    return envelope_string(id) ? request_id(d, envelope_string(id), error)
                               : envelope_wrong(NULL, "id", id, "a string", error);
}

static enum error_code read_output_parameters(struct decode *d, const cJSON *parameters,
                                              struct error *error)
{
    if (!cJSON_IsObject(parameters))
        return envelope_wrong(NULL, "parameters of an output", parameters, "an object", error);
    enum error_code code = request_json_region(&d->region, parameters, error);
    if (!code)
        code = request_json_refuse(parameters, error);
    const cJSON *binary = envelope_member(parameters, "binary_data");
    if (code)
        return code;
    if (!binary)
        return request_check_keys(parameters, &output_parameters, "parameters of the output",
                                  error);
    if (!cJSON_IsBool(binary)) {
        char text[ENVELOPE_FOUND_MAX];
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "binary_data of an output is %s; expected true or false",
                         envelope_found(text, binary));
    }
    d->binary = cJSON_IsTrue(binary) ? WISH_YES : WISH_NO;
    return ERROR_NONE;
}

/* `place`: "outputs[0]". */
static enum error_code read_output(struct decode *d, const cJSON *output, const char *place,
                                   struct error *error)
{
    if (!cJSON_IsObject(output))
        return envelope_wrong(NULL, place, output, "an object", error);
    enum error_code code = request_check_keys(output, &output_vocabulary, place, error);
    if (code)
        return code;
    const cJSON *name = envelope_member(output, "name");
    if (!name)
        return error_set(error, ERROR_INVALID_FIELD, NULL, "%s has no name; expected \"%s\"", place,
                         output_name);
    if (!envelope_string(name))
        return envelope_wrong(NULL, "name of an output", name, "a string", error);
    if (strcmp(envelope_string(name), output_name) != 0)
        return error_set(error, ERROR_UNKNOWN_OUTPUT, NULL,
                         "%s has no output \"%.64s\"; its only one is \"%s\"", d->request->op.name,
                         envelope_string(name), output_name);
    d->output_listed = true;
    const cJSON *parameters = envelope_member(output, "parameters");
    return parameters ? read_output_parameters(d, parameters, error) : ERROR_NONE;
}

static enum error_code read_outputs(struct decode *d, const cJSON *outputs, struct error *error)
{
    const cJSON *item;
    char place[REQUEST_PLACE_MAX];
    int i = 0;
    if (!cJSON_IsArray(outputs))
        return envelope_wrong(NULL, "outputs", outputs, "an array", error);
    cJSON_ArrayForEach(item, outputs)
    {
        enum error_code code =
            read_output(d, item, request_json_place(place, "outputs", i++), error);
        if (code)
            return code;
        if (item != outputs->child)
            return error_set(error, ERROR_INVALID_FIELD, NULL,
                             "outputs names \"%s\" more than once", output_name);
    }
    return ERROR_NONE;
}

const char *request_json_place(char *text, const char *list, int i)
{
    snprintf(text, REQUEST_PLACE_MAX, "%s[%d]", list, i);
    return text;
}

/* Parameters come first in the order of checks, and an output's wish overrides the request's. */
static const struct {
    const char *name;
    enum error_code (*read)(struct decode *d, const cJSON *item, struct error *error);
} members[] = {
    {"parameters", read_parameters},
    {"id", read_id},
    {"outputs", read_outputs},
    {"inputs", request_json_inputs},
};

static enum error_code read_members(struct decode *d, const cJSON *envelope, struct error *error)
{
    int known = 0;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        known += envelope_member(envelope, members[i].name) != NULL;
    enum error_code code =
        known < cJSON_GetArraySize(envelope)
            ? request_check_keys(envelope, &request_vocabulary, "the request", error)
            : ERROR_NONE;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && !code; i++) {
        const cJSON *item = envelope_member(envelope, members[i].name);
        code = item ? members[i].read(d, item, error) : ERROR_NONE;
    }
    if (!code && !envelope_member(envelope, "inputs"))
        code = error_set(error, ERROR_INVALID_FIELD, NULL,
                         "the request has no inputs; expected an array or an object");
    return code;
}

enum error_code request_json(struct decode *d, const struct json_scan *scan, struct error *error)
{
    const cJSON *envelope;
    enum error_code code = envelope_parse(&envelope, scan, d->work->memory, error);
    if (!code)
        code = read_members(d, envelope, error);
    if (!code)
        request_remember(d, scan);
    return code;
}
