/* Compressed bodies: right ones, damaged ones, and bombs. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { GZIP_BITS = 15 + 16, ZLIB_BITS = 15, RAW_BITS = -15, MAX_JSON = 16 << 20 };

static int start(void **state)
{
    static const char *const settings[] = {"--max_body=64M", "--max_json=16M", NULL};

    return fixture_start_with(state, settings);
}

static const char json[] = "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[1]],\"updates\":[5]}}";

struct packed {
    char *bytes; /* owned */
    size_t size;
};

static struct packed pack(const void *bytes, size_t size, int window_bits)
{
    z_stream z = {0};
    struct packed p;

    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY), Z_OK);
    p.size = deflateBound(&z, size);
    p.bytes = malloc(p.size);
    assert_non_null(p.bytes);
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)size;
    z.next_out = (Bytef *)p.bytes;
    z.avail_out = (uInt)p.size;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    p.size = z.total_out;
    deflateEnd(&z);
    return p;
}

static struct answer post(void **state, const char *coding, const void *body, size_t size)
{
    char header[64];

    snprintf(header, sizeof(header), "Content-Encoding: %s", coding);
    return fixture_call(*state, &(struct call){.path = "/v2/models/tensor_scatter_add/infer",
                                               .headers = {header, "Expect:", NULL},
                                               .body = body,
                                               .size = size});
}

static void expect_sum(struct answer *a)
{
    assert_int_equal(a->status, 200);
    expect_part(a, "'data':[1.0,7.0]");
    answer_release(a);
}

static void gzip_and_deflate_are_accepted(void **state)
{
    static const struct {
        const char *coding;
        int window_bits;
    } rows[] = {{"gzip", GZIP_BITS}, {"deflate", ZLIB_BITS}, {"GZIP", GZIP_BITS}};

    for (int i = 0; i < 3; i++) {
        struct packed p = pack(json, sizeof(json) - 1, rows[i].window_bits);
        struct answer a = post(state, rows[i].coding, p.bytes, p.size);

        expect_sum(&a);
        free(p.bytes);
    }
}

static void other_codings_are_415(void **state)
{
    static const char *const codings[] = {"br", "zstd", "compress", "gzip, gzip", "gzip, br"};

    for (int i = 0; i < 5; i++) {
        struct answer a = post(state, codings[i], json, sizeof(json) - 1);

        expect_error(&a, 415, "UNSUPPORTED_ENCODING", "gzip");
        answer_release(&a);
    }
}

static void the_json_length_counts_decompressed_bytes(void **state)
{
    const float tensor[2] = {1, 2}, update = 5;
    const int32_t index = 1;
    const struct part parts[] = {
        {"tensor", "FP32", "[2]", tensor, sizeof(tensor)},
        {"indices", "INT32", "[1,1]", &index, sizeof(index)},
        {"updates", "FP32", "[1]", &update, sizeof(update)},
    };
    char length[64];
    struct body body;
    struct packed p;
    struct answer a;

    assert_true(body_binary(&body, parts, 3, ""));
    snprintf(length, sizeof(length), "Inference-Header-Content-Length: %zu", body.header_length);
    p = pack(body.data, body.size, GZIP_BITS);
    a = fixture_call(*state, &(struct call){.path = "/v2/models/tensor_scatter_add/infer",
                                            .headers = {length, "Content-Encoding: gzip", NULL},
                                            .body = p.bytes,
                                            .size = p.size});
    expect_sum(&a);
    free(p.bytes);
    body_release(&body);
}

static void expect_damaged(void **state, const char *bytes, size_t size)
{
    struct answer a = post(state, "gzip", bytes, size);

    expect_error(&a, 400, "INVALID_HEADER", "gzip");
    answer_release(&a);
}

static void damaged_streams_are_refused(void **state)
{
    struct packed p = pack(json, sizeof(json) - 1, GZIP_BITS);

    expect_damaged(state, json, sizeof(json) - 1);
    expect_damaged(state, "", 0);
    for (size_t cut = 1; cut < p.size; cut++)
        expect_damaged(state, p.bytes, cut);
    p.bytes[p.size - 5] ^= 1; /* the checksum */
    expect_damaged(state, p.bytes, p.size);
    p.bytes[p.size - 5] ^= 1;
    p.bytes[p.size / 2] ^= 0x55;
    expect_damaged(state, p.bytes, p.size);
    free(p.bytes);
    fixture_check_alive(*state);
}

static void raw_deflate_is_not_deflate(void **state)
{
    struct packed p = pack(json, sizeof(json) - 1, RAW_BITS);
    struct answer a = post(state, "deflate", p.bytes, p.size);

    expect_error(&a, 400, "INVALID_HEADER", "deflate");
    answer_release(&a);
    free(p.bytes);
}

static void bytes_behind_the_stream_are_refused(void **state)
{
    struct packed p = pack(json, sizeof(json) - 1, GZIP_BITS);
    char *longer = calloc(1, p.size + 8);

    assert_non_null(longer);
    memcpy(longer, p.bytes, p.size);
    expect_damaged(state, longer, p.size + 8);
    free(longer);
    free(p.bytes);
}

/* 1 GiB of zeros in a megabyte: refused at the limit, in memory and time for 16 MiB. */
static void a_bomb_is_refused_at_the_limit(void **state)
{
    enum { PIECE = 64 << 20, PIECES = 16 };
    struct fixture *f = *state;
    char *zeros = calloc(1, PIECE);
    struct packed piece, bomb;
    long before_kb;

    assert_non_null(zeros);
    piece = pack(zeros, PIECE, GZIP_BITS);
    free(zeros);
    bomb.size = piece.size * PIECES;
    bomb.bytes = malloc(bomb.size);
    assert_non_null(bomb.bytes);
    for (int i = 0; i < PIECES; i++)
        memcpy(bomb.bytes + piece.size * (size_t)i, piece.bytes, piece.size);
    before_kb = server_memory_kb(&f->server, "VmRSS");
    for (int i = 0; i < 3; i++) {
        struct answer a = post(state, "gzip", bomb.bytes, bomb.size);

        expect_error(&a, 413, "PAYLOAD_TOO_LARGE", "max_json");
        answer_release(&a);
    }
    assert_true(server_memory_kb(&f->server, "VmHWM") - before_kb < 8 * MAX_JSON / 1024);
    free(piece.bytes);
    free(bomb.bytes);
    fixture_check_alive(f);
}

/* JSON that is mostly blanks: legal, and within the limit exactly. */
static void the_limit_itself_is_allowed(void **state)
{
    char *text = malloc(MAX_JSON + 1);

    assert_non_null(text);
    for (int more = 0; more <= 1; more++) {
        size_t size = (size_t)MAX_JSON + (size_t)more;
        struct packed p;
        struct answer a;

        memset(text, ' ', size);
        memcpy(text, json, sizeof(json) - 1);
        p = pack(text, size, GZIP_BITS);
        a = post(state, "gzip", p.bytes, p.size);
        if (more == 0)
            expect_sum(&a);
        else
            expect_error(&a, 413, "PAYLOAD_TOO_LARGE", "16777216");
        if (more != 0)
            answer_release(&a);
        free(p.bytes);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_and_deflate_are_accepted),
        cmocka_unit_test(other_codings_are_415),
        cmocka_unit_test(the_json_length_counts_decompressed_bytes),
        cmocka_unit_test(damaged_streams_are_refused),
        cmocka_unit_test(raw_deflate_is_not_deflate),
        cmocka_unit_test(bytes_behind_the_stream_are_refused),
        cmocka_unit_test(a_bomb_is_refused_at_the_limit),
        cmocka_unit_test(the_limit_itself_is_allowed),
    };

    return cmocka_run_group_tests_name("compression", tests, start, fixture_stop);
}
