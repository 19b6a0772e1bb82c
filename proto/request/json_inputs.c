#include "proto/request/json.h"
#include "proto/request/vocabulary.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char a_size[] = "an integer from 0 to 2^53 - 1";

static const char *const input_keys[] = {"name", "shape",  "datatype", "parameters",
                                         "data", "tensor", NULL};
static const struct synonym input_synonyms[] = {
    {"dtype", "datatype"},    {"type", "datatype"}, {"element_type", "datatype"},
    {"dims", "shape"},        {"dim", "shape"},     {"dimensions", "shape"},
    {"values", "data"},       {"value", "data"},    {"content", "data"},
    {"contents", "data"},     {"array", "data"},    {"elements", "data"},
    {"params", "parameters"}, {NULL, NULL},
};
static const struct vocabulary input_vocabulary = {input_keys, input_synonyms, "binary_data_size",
                                                   ERROR_INVALID_FIELD};

static const char *const input_parameter_keys[] = {
    "binary_data_size",     "tensor", "shared_memory_region", "shared_memory_byte_size",
    "shared_memory_offset", NULL};
static const struct vocabulary input_parameters = {input_parameter_keys, NULL, NULL,
                                                   ERROR_INVALID_PARAMETER};

static enum error_code read_datatype(struct decode *d, struct announced *a, const cJSON *item,
                                     struct error *error)
{
    const char *input = d->request->op.op->inputs[a->input];
    const char *name = envelope_string(item);
    if (!name)
        return envelope_wrong(input, "datatype", item, "a string", error);
    a->tensor.dtype = dtype_from_v2(name, strlen(name));
    return a->tensor.dtype == DTYPE_NONE ? request_unknown_dtype(d, a->input, name, error)
                                         : ERROR_NONE;
}

enum error_code request_json_shape(struct decode *d, struct announced *a, const cJSON *item,
                                   struct error *error)
{
    const char *input = d->request->op.op->inputs[a->input];
    const cJSON *dimension;
    if (!cJSON_IsArray(item))
        return envelope_wrong(input, "shape", item, "an array of integers", error);
    a->tensor.rank = 0;
    cJSON_ArrayForEach(dimension, item)
    {
        int64_t size;
        if (!envelope_size(dimension, &size)) {
            char place[REQUEST_PLACE_MAX];
            return envelope_wrong(input, request_json_place(place, "shape", a->tensor.rank),
                                  dimension, a_size, error);
        }
        if (a->tensor.rank < RANK_MAX)
            a->tensor.shape[a->tensor.rank] = size;
        a->tensor.rank++;
    }
    return ERROR_NONE;
}

static enum error_code given_twice(const struct decode *d, const struct announced *a,
                                   struct error *error)
{
    const char *input = d->request->op.op->inputs[a->input];
    return error_set(error, ERROR_DUPLICATE_INPUT, input,
                     "%s has data and is the tensor \"%s\" as well; expected one of them", input,
                     d->request->references[a->input].name);
}

static enum error_code read_binary_size(struct decode *d, struct announced *a, const cJSON *item,
                                        struct error *error)
{
    const char *input = d->request->op.op->inputs[a->input];
    int64_t bytes;
    if (!envelope_size(item, &bytes))
        return envelope_wrong(input, "binary_data_size", item, a_size, error);
    if (bytes > 0 && d->head->header_length < 0)
        return error_set(error, ERROR_INVALID_HEADER, input,
                         "binary_data_size of %s is %lld, but the request has no header "
                         "Inference-Header-Content-Length, which says where the JSON ends",
                         input, (long long)bytes);
    if (a->source == SOURCE_REFERENCE)
        return given_twice(d, a, error);
    a->source = SOURCE_BINARY;
    a->bytes = (size_t)bytes;
    return ERROR_NONE;
}

/* The item is the number of the value that json_scan cut out. */
static enum error_code read_data(struct decode *d, struct announced *a, const cJSON *item,
                                 struct error *error)
{
    const char *input = d->request->op.op->inputs[a->input];
    assert(cJSON_IsNumber(item));
    if (a->source == SOURCE_REFERENCE)
        return given_twice(d, a, error);
    if (a->source == SOURCE_BINARY)
        return error_set(error, ERROR_INVALID_FIELD, input,
                         "%s has both data and binary_data_size; expected one of them", input);
    a->source = SOURCE_CUT;
    a->cut = (int)item->valuedouble;
    return ERROR_NONE;
}

static enum error_code read_reference(struct decode *d, struct announced *a, const cJSON *item,
                                      struct error *error)
{
    const char *input = d->request->op.op->inputs[a->input];
    if (!envelope_string(item))
        return envelope_wrong(input, "tensor", item, "the name of a tensor", error);
    a->source = SOURCE_REFERENCE;
    return request_reference(&d->request->references[a->input], envelope_string(item),
                             "the tensor of an input", error);
}

static enum error_code read_input_parameters(struct decode *d, struct announced *a,
                                             const cJSON *item, struct error *error)
{
    const char *input = d->request->op.op->inputs[a->input];
    char where[64];
    if (!cJSON_IsObject(item))
        return envelope_wrong(input, "parameters", item, "an object", error);
    struct reference *reference = &d->request->references[a->input];
    enum error_code code = request_json_region(reference, item, error);
    if (!code)
        code = request_json_refuse(item, error);
    const cJSON *tensor = envelope_member(item, "tensor");
    if (!code && tensor)
        code = read_reference(d, a, tensor, error);
    if (!code && reference_is_set(reference))
        a->source = SOURCE_REFERENCE;
    const cJSON *bytes = envelope_member(item, "binary_data_size");
    if (code || bytes)
        return code ? code : read_binary_size(d, a, bytes, error);
    snprintf(where, sizeof(where), "parameters of %s", input);
    return request_check_keys(item, &input_parameters, where, error);
}

/* In the order of checks: parameters, type, shape, elements. */
static const struct {
    const char *name;
    enum error_code (*read)(struct decode *d, struct announced *a, const cJSON *item,
                            struct error *error);
} input_members[] = {
    {"parameters", read_input_parameters}, {"tensor", read_reference}, {"datatype", read_datatype},
    {"shape", request_json_shape},         {"data", read_data},
};

enum { INPUT_MEMBERS = sizeof(input_members) / sizeof(input_members[0]) };

/* `known`: members of the object that are read elsewhere. */
static enum error_code read_members(struct decode *d, struct announced *a, const cJSON *object,
                                    int known, struct error *error)
{
    const char *input = d->request->op.op->inputs[a->input];
    for (int i = 0; i < INPUT_MEMBERS; i++)
        known += envelope_member(object, input_members[i].name) != NULL;
    enum error_code code = known < cJSON_GetArraySize(object)
                               ? request_check_keys(object, &input_vocabulary, input, error)
                               : ERROR_NONE;
    for (int i = 0; i < INPUT_MEMBERS && !code; i++) {
        const cJSON *item = envelope_member(object, input_members[i].name);
        code = item ? input_members[i].read(d, a, item, error) : ERROR_NONE;
    }
    return code;
}

static enum error_code read_input_members(struct decode *d, struct announced *a,
                                          const cJSON *object, int known, struct error *error)
{
    const char *input = d->request->op.op->inputs[a->input];
    enum error_code code = read_members(d, a, object, known, error);
    if (code)
        return code;
    d->request->references[a->input].dtype_said = a->tensor.dtype != DTYPE_NONE;
    if (a->source == SOURCE_NONE)
        return error_set(error, ERROR_INVALID_FIELD, input,
                         "%s has neither data nor parameters.binary_data_size", input);
    if (a->source == SOURCE_BINARY && a->tensor.rank < 0)
        return error_set(error, ERROR_INVALID_FIELD, input,
                         "%s has no shape; binary data needs one", input);
    return ERROR_NONE;
}

/* Says which member of the list has no name. */
static enum error_code no_name(const cJSON *object, const char *place, struct error *error)
{
    enum error_code code = request_check_keys(object, &input_vocabulary, place, error);
    return code ? code
                : error_set(error, ERROR_INVALID_FIELD, NULL,
                            "%s has no name; expected that of the input", place);
}

/* {"name": "tensor", ...} */
static enum error_code read_input(struct decode *d, const cJSON *object, int i, struct error *error)
{
    char place[REQUEST_PLACE_MAX];
    struct announced *a;
    if (!cJSON_IsObject(object))
        return envelope_wrong(NULL, request_json_place(place, "inputs", i), object, "an object",
                              error);
    const cJSON *name = envelope_member(object, "name");
    if (!name)
        return no_name(object, request_json_place(place, "inputs", i), error);
    if (!envelope_string(name))
        return envelope_wrong(NULL, request_json_place(place, "name of inputs", i), name,
                              "a string", error);
    enum error_code code = request_announce(d, envelope_string(name), &a, error);
    return code ? code : read_input_members(d, a, object, 1, error);
}

/* "tensor": [1, 2, 3] or "tensor": {"data": [1, 2, 3], ...}, the short form. */
static enum error_code read_named_input(struct decode *d, const cJSON *item, struct error *error)
{
    struct announced *a;
    enum error_code code = request_announce(d, item->string, &a, error);
    if (code)
        return code;
    return cJSON_IsObject(item) ? read_input_members(d, a, item, 0, error)
                                : read_data(d, a, item, error);
}

enum error_code request_json_inputs(struct decode *d, const cJSON *inputs, struct error *error)
{
    const cJSON *item;
    bool named = cJSON_IsObject(inputs);
    int i = 0;
    if (!named && !cJSON_IsArray(inputs))
        return envelope_wrong(NULL, "inputs", inputs, "an array or an object", error);
    cJSON_ArrayForEach(item, inputs)
    {
        enum error_code code =
            named ? read_named_input(d, item, error) : read_input(d, item, i++, error);
        if (code)
            return code;
    }
    return ERROR_NONE;
}

enum error_code request_json_tensor(struct decode *d, const struct json_scan *scan,
                                    struct error *error)
{
    const cJSON *tree;
    struct announced *a;
    enum error_code code = envelope_parse(&tree, scan, d->work->memory, error);
    if (!code)
        code = request_announce(d, "tensor", &a, error);
    if (!code)
        code = read_members(d, a, tree, 0, error);
    if (code)
        return code;
    if (a->source == SOURCE_REFERENCE)
        return error_set(error, ERROR_INVALID_FIELD, NULL,
                         "a tensor cannot be made from a reference; expected datatype, shape and "
                         "data");
    if (a->source == SOURCE_CUT || (a->tensor.dtype != DTYPE_NONE && a->tensor.rank >= 0))
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_FIELD, NULL,
                     "without data a tensor needs datatype and shape; it is zeros then");
}
