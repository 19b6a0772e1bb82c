#include "proto/request/parse.h"

#include "kernels/nearest.h"
#include "proto/number/decimal.h"
#include "proto/number/digits.h"
#include "proto/text.h"

#include <string.h>

/* The words that a parameter accepts. */
struct word {
    const char *text;
    int value;
};

static const struct word policies[] = {
    {"", BAD_INDICES_DEVICE},
    {"DEFAULT", BAD_INDICES_DEVICE},
    {"ERROR", BAD_INDICES_ERROR},
    {"IGNORE", BAD_INDICES_IGNORE},
    {NULL, 0},
};

static const struct word nonfinites[] = {
    {"error", NONFINITE_ERROR},
    {"token", NONFINITE_TOKEN},
    {"string", NONFINITE_STRING},
    {"null", NONFINITE_NULL},
    {NULL, 0},
};

/* "<name> is <what was found>; " and the text of `expected`. */
static enum error_code unexpected(const char *name, const struct parameter *value,
                                  const char *expected, struct error *error)
{
    switch (value->kind) {
    case PARAMETER_TEXT:
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "parameter %s is \"%.64s\"; expected %s", name, value->text, expected);
    case PARAMETER_NUMBER:
        return error_set(error, ERROR_INVALID_PARAMETER, NULL, "parameter %s is %.64s; expected %s",
                         name, value->text, expected);
    case PARAMETER_TRUTH:
        return error_set(error, ERROR_INVALID_PARAMETER, NULL, "parameter %s is %s; expected %s",
                         name, value->truth ? "true" : "false", expected);
    default:
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "parameter %s is neither text, number nor boolean; expected %s", name,
                         expected);
    }
}

static const struct word *find_word(const struct word *words, const struct parameter *value)
{
    for (const struct word *w = words; w->text; w++)
        if (value->kind == PARAMETER_TEXT && strcmp(value->text, w->text) == 0)
            return w;
    return NULL;
}

static enum error_code not_one_of(const struct word *words, const char *name,
                                  const struct parameter *value, struct error *error)
{
    char list[128];
    struct text expected;
    text_init(&expected, list, sizeof(list));
    for (const struct word *w = words; w->text; w++)
        text_printf(&expected, "%s\"%s\"", w == words ? "one of " : ", ", w->text);
    return unexpected(name, value, expected.data, error);
}

static enum error_code read_policy(struct decode *d, const char *name,
                                   const struct parameter *value, struct error *error)
{
    const struct word *word = find_word(policies, value);
    if (!word)
        return not_one_of(policies, name, value, error);
    d->policy = (enum bad_indices)word->value;
    return ERROR_NONE;
}

static enum error_code read_nonfinite(struct decode *d, const char *name,
                                      const struct parameter *value, struct error *error)
{
    const struct word *word = find_word(nonfinites, value);
    if (!word)
        return not_one_of(nonfinites, name, value, error);
    d->request->nonfinite = (enum nonfinite)word->value;
    d->nonfinite_said = true;
    return ERROR_NONE;
}

/* The N of "cuda:N", or -1 when it is no device of this server's. */
static int device_number(const char *digits, int devices)
{
    uint64_t number;
    const char *end = devices > 0 ? digits_read(digits, (uint64_t)devices - 1, &number) : NULL;
    return end && *end == '\0' ? (int)number : -1;
}

static enum error_code no_such_device(const char *name, const struct parameter *value, int devices,
                                      struct error *error)
{
    char has[96];
    struct text t;
    text_init(&t, has, sizeof(has));
    text_puts(&t, "one of \"auto\", \"cpu\"");
    if (devices == 0)
        text_puts(&t, " (this server has no CUDA device)");
    else
        text_printf(&t, ", \"cuda\", \"cuda:0\" to \"cuda:%d\"", devices - 1);
    return unexpected(name, value, t.data, error);
}

static enum error_code read_device(struct decode *d, const char *name,
                                   const struct parameter *value, struct error *error)
{
    const char *text = value->kind == PARAMETER_TEXT ? value->text : "";
    int devices = d->rules->cuda_devices, index = -1;
    enum device device = DEVICE_DEFAULT;
    if (strcmp(text, "auto") == 0) {
        device = DEVICE_AUTO;
    } else if (strcmp(text, "cpu") == 0) {
        device = DEVICE_CPU;
    } else if (strcmp(text, "cuda") == 0 && devices > 0) {
        device = DEVICE_CUDA;
    } else if (strncmp(text, "cuda:", 5) == 0) {
        index = device_number(text + 5, devices);
        device = index >= 0 ? DEVICE_CUDA : DEVICE_DEFAULT;
    }
    if (device == DEVICE_DEFAULT)
        return no_such_device(name, value, devices, error);
    d->request->device = device;
    d->request->device_index = index;
    return ERROR_NONE;
}

static enum error_code read_timeout(struct decode *d, const char *name,
                                    const struct parameter *value, struct error *error)
{
    int64_t us;
    if (value->kind != PARAMETER_NUMBER || !decimal_size(value->text, &us))
        return unexpected(name, value, "a number of microseconds, an integer from 0 to 2^53 - 1",
                          error);
    d->request->timeout_us = (uint64_t)us;
    return ERROR_NONE;
}

static enum error_code read_binary(struct decode *d, const char *name,
                                   const struct parameter *value, struct error *error)
{
    if (value->kind != PARAMETER_TRUTH)
        return unexpected(name, value, "true or false", error);
    d->binary = value->truth ? WISH_YES : WISH_NO;
    return ERROR_NONE;
}

/* In a safetensors file every value is a string, also one that looks like a number. */
static bool is_name(const struct parameter *value, const struct decode *d)
{
    return value->text && (value->kind == PARAMETER_TEXT || d->head->body == ENCODING_SAFETENSORS);
}

static enum error_code read_tensor(struct decode *d, const char *name,
                                   const struct parameter *value, struct error *error)
{
    if (!is_name(value, d))
        return unexpected(name, value, "the name of a tensor", error);
    return request_reference(&d->table, value->text, "parameter tensor", error);
}

static enum error_code read_into(struct decode *d, const char *name, const struct parameter *value,
                                 struct error *error)
{
    if (!is_name(value, d))
        return unexpected(name, value, "the name of a tensor", error);
    return request_reference(&d->request->into, value->text, "parameter into", error);
}

static const struct {
    const char *name;
    enum error_code (*read)(struct decode *d, const char *name, const struct parameter *value,
                            struct error *error);
} parameters[] = {
    {"bad_indices_policy", read_policy},
    {"device", read_device},
    {"timeout", read_timeout},
    {"json_nonfinite", read_nonfinite},
    {"binary_data_output", read_binary},
    {"tensor", read_tensor},
    {"into", read_into},
};

enum { PARAMETER_COUNT = sizeof(parameters) / sizeof(parameters[0]) };

bool request_has_parameter(const char *name)
{
    for (int i = 0; i < PARAMETER_COUNT; i++)
        if (strcmp(name, parameters[i].name) == 0)
            return true;
    return false;
}

const char *request_parameter_meant(const char *word)
{
    struct nearest nearest = nearest_to(word, strlen(word));
    for (int i = 0; i < PARAMETER_COUNT; i++)
        nearest_offer(&nearest, parameters[i].name);
    return strcmp(word, "binary_data") == 0 ? "binary_data_output" : nearest.found;
}

/* Of parameters that are not known those are refused that were meant as one that is, or as an
 * input. */
static enum error_code judge_unknown(const struct decode *d, const char *name, struct error *error)
{
    const struct op *op = d->request->op.op;
    const char *meant = request_parameter_meant(name);
    for (int i = 0; i < op_inputs(op); i++)
        if (strcmp(op->inputs[i], name) == 0)
            return error_set(
                error, ERROR_INVALID_PARAMETER, op->inputs[i],
                "%s stands in the parameters of the request, where it says nothing; it "
                "belongs into its inputs",
                name);
    if (!meant)
        return request_refuse_parameter(name, error);
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "there is no parameter \"%.64s\"; did you mean \"%s\"?", name, meant);
}

enum error_code request_parameter(struct decode *d, const char *name, const struct parameter *value,
                                  struct error *error)
{
    for (int i = 0; i < PARAMETER_COUNT; i++)
        if (strcmp(name, parameters[i].name) == 0)
            return parameters[i].read(d, parameters[i].name, value, error);
    return judge_unknown(d, name, error);
}

enum error_code request_text_parameter(struct decode *d, const char *name, const char *text,
                                       struct error *error)
{
    struct parameter value = {.kind = PARAMETER_TEXT, .text = text};
    if (number_end(text, text + strlen(text)) == text + strlen(text)) {
        value.kind = PARAMETER_NUMBER;
    } else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        value.kind = PARAMETER_TRUTH;
        value.truth = text[0] == 't';
    }
    return request_parameter(d, name, &value, error);
}

enum error_code request_refuse_parameter(const char *name, struct error *error)
{
    static const char shared_memory[] = "shared_memory_";
    if (strcmp(name, "classification") != 0 &&
        strncmp(name, shared_memory, sizeof(shared_memory) - 1) != 0)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "parameter %.64s asks for an extension that this server does not have", name);
}

enum error_code request_id(struct decode *d, const char *id, struct error *error)
{
    size_t size = strlen(id);
    if (size > REQUEST_ID_MAX)
        return error_set(error, ERROR_INVALID_FIELD, NULL,
                         "id has %zu bytes; at most %d are allowed", size, REQUEST_ID_MAX);
    memcpy(d->request->id, id, size + 1);
    return ERROR_NONE;
}

/* bad_indices_policy, else the setting, else the device that was asked for: never the device that
 * happens to run (OPERATIONS, section 5). */
static bool ignores_bad(const struct decode *d)
{
    enum bad_indices policy = d->policy != BAD_INDICES_DEVICE ? d->policy : d->rules->bad_indices;
    enum device asked =
        d->request->device != DEVICE_DEFAULT ? d->request->device : d->rules->device;
    return policy == BAD_INDICES_DEVICE ? asked == DEVICE_CUDA : policy == BAD_INDICES_IGNORE;
}

void request_resolve(struct decode *d)
{
    struct request *r = d->request;
    r->ignore_bad = ignores_bad(d);
    if (d->binary != WISH_NONE)
        r->answer = d->binary == WISH_YES ? ENCODING_BINARY : ENCODING_JSON;
    else if (d->head->accepted != ENCODING_COUNT)
        r->answer = d->head->accepted;
    else
        r->answer = d->head->body == ENCODING_SAFETENSORS ? ENCODING_SAFETENSORS : ENCODING_JSON;
    r->safetensors_type = d->head->safetensors_type;
    if (!d->nonfinite_said)
        r->nonfinite = d->bare_tokens ? NONFINITE_TOKEN : NONFINITE_ERROR;
}
