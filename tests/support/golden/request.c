#include "tests/support/golden/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_complex(enum dtype d)
{
    return d == DTYPE_C64 || d == DTYPE_C128;
}

static void widen(struct tensor *t)
{
    if (!is_complex(t->dtype))
        return;
    t->dtype = t->dtype == DTYPE_C64 ? DTYPE_FP32 : DTYPE_FP64;
    t->shape[t->rank++] = 2;
}

/* scatter_nd's `shape` names the trailing 2 as well. */
static void widen_shape(struct golden_tensor *input, void *memory)
{
    struct tensor *t = &input->tensor;
    int64_t last = t->shape[0]++;

    memcpy(memory, t->data, input->size_bytes);
    t->data = memory;
    if (t->dtype == DTYPE_INT32)
        ((int32_t *)memory)[last] = 2;
    else
        ((int64_t *)memory)[last] = 2;
    input->size_bytes += dtype_bytes(t->dtype);
}

bool golden_without_complex(struct golden_case *c, int64_t *memory)
{
    bool complex = false;

    for (int i = 0; i < c->input_count; i++)
        complex = complex || is_complex(c->inputs[i].tensor.dtype);
    if (!complex)
        return true;
    if (c->fails && strcmp(c->error.code, "UNSUPPORTED_DTYPE") == 0)
        return false;
    for (int i = 0; i < c->input_count; i++) {
        widen(&c->inputs[i].tensor);
        if (strcmp(c->inputs[i].name, "shape") == 0 && c->inputs[i].tensor.rank == 1)
            widen_shape(&c->inputs[i], memory);
    }
    widen(&c->output.tensor);
    return true;
}

static void print_float(FILE *stream, double value, int digits)
{
    if (isnan(value))
        fputs("NaN", stream);
    else if (isinf(value))
        fputs(value < 0 ? "-Infinity" : "Infinity", stream);
    else
        fprintf(stream, "%.*g", digits, value);
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 0    ? ldexp(fraction, -24)
                       : exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                        : ldexp(1024 + fraction, exponent - 25);

    return bits >> 15 != 0 ? -magnitude : magnitude;
}

static double brain_value(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof(value));
    return (double)value;
}

static void print_string(FILE *stream, struct span s)
{
    fputc('"', stream);
    for (size_t i = 0; i < s.size; i++) {
        unsigned char c = (unsigned char)s.data[i];

        if (c < 0x20 || c == '"' || c == '\\')
            fprintf(stream, "\\u%04x", c);
        else
            fputc(c, stream);
    }
    fputc('"', stream);
}

static void print_element(FILE *stream, enum dtype dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case DTYPE_BOOL:
        fputs(((const uint8_t *)data)[i] != 0 ? "true" : "false", stream);
        break;
    case DTYPE_BYTES:
        print_string(stream, ((const struct span *)data)[i]);
        break;
    case DTYPE_FP16:
        print_float(stream, half_value(((const uint16_t *)data)[i]), 9);
        break;
    case DTYPE_BF16:
        print_float(stream, brain_value(((const uint16_t *)data)[i]), 9);
        break;
    case DTYPE_FP32:
        print_float(stream, (double)((const float *)data)[i], 9);
        break;
    case DTYPE_FP64:
        print_float(stream, ((const double *)data)[i], 17);
        break;
    case DTYPE_INT8:
        fprintf(stream, "%d", ((const int8_t *)data)[i]);
        break;
    case DTYPE_INT16:
        fprintf(stream, "%d", ((const int16_t *)data)[i]);
        break;
    case DTYPE_INT32:
        fprintf(stream, "%d", ((const int32_t *)data)[i]);
        break;
    case DTYPE_INT64:
        fprintf(stream, "%lld", (long long)((const int64_t *)data)[i]);
        break;
    case DTYPE_UINT8:
        fprintf(stream, "%u", ((const uint8_t *)data)[i]);
        break;
    case DTYPE_UINT16:
        fprintf(stream, "%u", ((const uint16_t *)data)[i]);
        break;
    case DTYPE_UINT32:
        fprintf(stream, "%u", ((const uint32_t *)data)[i]);
        break;
    case DTYPE_UINT64:
        fprintf(stream, "%llu", (unsigned long long)((const uint64_t *)data)[i]);
        break;
    default:
        abort();
    }
}

static void print_data(FILE *stream, const struct tensor *t)
{
    int64_t count = golden_numbers(t);

    fputc('[', stream);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            fputc(',', stream);
        print_element(stream, t->dtype, t->data, i);
    }
    fputc(']', stream);
}

static void print_shape(FILE *stream, const struct tensor *t)
{
    fputc('[', stream);
    for (int i = 0; i < t->rank; i++)
        fprintf(stream, "%s%lld", i > 0 ? "," : "", (long long)t->shape[i]);
    fputc(']', stream);
}

static void print_parameters(FILE *stream, const struct golden_case *c, const char *others)
{
    fprintf(stream, "\"parameters\":{%s", others);
    if (c->policy[0] != '\0')
        fprintf(stream, ",\"bad_indices_policy\":\"%s\"", c->policy);
    fputc('}', stream);
}

bool golden_as_json(const struct golden_case *c, struct body *b)
{
    FILE *stream = open_memstream(&b->data, &b->size);

    if (stream == NULL)
        return false;
    fputc('{', stream);
    print_parameters(stream, c, "\"json_nonfinite\":\"token\"");
    fputs(",\"inputs\":[", stream);
    for (int i = 0; i < c->input_count; i++) {
        const struct tensor *t = &c->inputs[i].tensor;

        fprintf(stream, "%s{\"name\":\"%s\",\"datatype\":\"%s\",\"shape\":", i > 0 ? "," : "",
                c->inputs[i].name, dtype_name(t->dtype));
        print_shape(stream, t);
        fputs(",\"data\":", stream);
        print_data(stream, t);
        fputc('}', stream);
    }
    fputs("]}", stream);
    return fclose(stream) == 0;
}

/* The elements as they travel: BYTES with their lengths. */
static void write_tensor(FILE *stream, const struct golden_tensor *input)
{
    const struct span *spans = input->tensor.data;

    if (input->tensor.dtype != DTYPE_BYTES) {
        fwrite(input->tensor.data, 1, input->size_bytes, stream);
        return;
    }
    for (size_t i = 0; i < input->size_bytes / sizeof(struct span); i++) {
        uint32_t size = (uint32_t)spans[i].size;

        fwrite(&size, sizeof(size), 1, stream);
        fwrite(spans[i].data, 1, spans[i].size, stream);
    }
}

static size_t wire_bytes(const struct golden_tensor *input)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&bytes, &size);

    write_tensor(stream, input);
    fclose(stream);
    free(bytes);
    return size;
}

bool golden_as_binary(const struct golden_case *c, struct body *b)
{
    FILE *stream = open_memstream(&b->data, &b->size);

    if (stream == NULL)
        return false;
    fputc('{', stream);
    print_parameters(stream, c, "\"binary_data_output\":true");
    fputs(",\"inputs\":[", stream);
    for (int i = 0; i < c->input_count; i++) {
        const struct golden_tensor *input = &c->inputs[i];

        fprintf(stream, "%s{\"name\":\"%s\",\"datatype\":\"%s\",\"shape\":", i > 0 ? "," : "",
                input->name, dtype_name(input->tensor.dtype));
        print_shape(stream, &input->tensor);
        fprintf(stream, ",\"parameters\":{\"binary_data_size\":%zu}}", wire_bytes(input));
    }
    fputs("]}", stream);
    fflush(stream);
    b->header_length = b->size;
    for (int i = 0; i < c->input_count; i++)
        write_tensor(stream, &c->inputs[i]);
    return fclose(stream) == 0;
}

static void print_safetensors_header(FILE *stream, const struct golden_case *c)
{
    size_t offset = 0;

    fputc('{', stream);
    if (c->policy[0] != '\0')
        fprintf(stream, "\"__metadata__\":{\"bad_indices_policy\":\"%s\"},", c->policy);
    for (int i = 0; i < c->input_count; i++) {
        const struct golden_tensor *input = &c->inputs[i];

        fprintf(stream, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":", i > 0 ? "," : "", input->name,
                dtype_safetensors_name(input->tensor.dtype));
        print_shape(stream, &input->tensor);
        fprintf(stream, ",\"data_offsets\":[%zu,%zu]}", offset, offset + input->size_bytes);
        offset += input->size_bytes;
    }
    fputc('}', stream);
}

bool golden_as_safetensors(const struct golden_case *c, struct body *b)
{
    uint64_t length = 0;
    FILE *stream;

    for (int i = 0; i < c->input_count; i++)
        if (dtype_safetensors_name(c->inputs[i].tensor.dtype) == NULL)
            return false;
    stream = open_memstream(&b->data, &b->size);
    if (stream == NULL)
        return false;
    fwrite(&length, sizeof(length), 1, stream);
    print_safetensors_header(stream, c);
    fflush(stream);
    length = b->size - sizeof(length);
    for (int i = 0; i < c->input_count; i++)
        write_tensor(stream, &c->inputs[i]);
    if (fclose(stream) != 0)
        return false;
    memcpy(b->data, &length, sizeof(length));
    return true;
}
