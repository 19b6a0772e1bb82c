/* seeds: writes the inputs that the fuzzers start from, FOLDER/TARGET/NUMBER, out of the golden
 * cases and a few texts. The same files every time.
 *
 *   seeds FOLDER */
#include "kernels/op.h"
#include "server/config/config.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/golden/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* Every so many cases one, and none that is long: mutations of short inputs find more. */
enum { STEP = 3, BODY_MAX = 4096, PATH_BYTES = 512 };

static const char *folder;
static int written;

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void put(const char *target, const void *head, size_t head_size, const void *body,
                size_t size)
{
    char path[PATH_BYTES];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s/%05d", folder, target, written++);
    file = fopen(path, "w");
    if (file == NULL || fwrite(head, 1, head_size, file) != head_size ||
        fwrite(body, 1, size, file) != size || fclose(file) != 0)
        fail(path);
}

static void put_text(const char *target, const char *text)
{
    put(target, "", 0, text, strlen(text));
}

/* ---------------------------------------------------------------------------- from golden cases */

static uint8_t op_number(const char *name)
{
    for (int i = 0; i < op_count(); i++)
        if (strcmp(op_at(i)->name, name) == 0)
            return (uint8_t)i;
    abort();
}

static void put_inflate(const struct body *b, int window, uint8_t choice)
{
    Bytef out[BODY_MAX + 1024];
    z_stream z = {.next_in = (Bytef *)b->data,
                  .avail_in = (uInt)b->size,
                  .next_out = out,
                  .avail_out = sizeof(out)};

    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) !=
            Z_OK ||
        deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    put("inflate", &choice, 1, out, z.total_out);
    deflateEnd(&z);
}

/* The arrays of a JSON body are lists of numbers, each for every type. */
static void put_numbers(const struct body *b, uint8_t choice)
{
    static const char key[] = "\"data\":[";

    for (const char *at = b->data; (at = strstr(at, key)) != NULL;) {
        uint8_t choices[2] = {choice, (uint8_t)(choice / 8)};

        at += sizeof(key) - 1;
        put("number", choices, 1, at, strcspn(at, "]"));
        put("slices", choices, 2, at, strcspn(at, "]"));
    }
}

static void put_json(const struct golden_case *c, const uint8_t *choices)
{
    struct body b = {0};

    if (!golden_as_json(c, &b))
        abort();
    if (b.size <= BODY_MAX) {
        put("request_json", choices, FUZZ_CHOICES, b.data, b.size);
        put("recall", choices, FUZZ_CHOICES, b.data, b.size);
        put_numbers(&b, choices[2]);
        put_inflate(&b, 15, 2);
        put_inflate(&b, 31, 1);
    }
    free(b.data);
}

static void put_binary(const struct golden_case *c, const uint8_t *choices)
{
    uint8_t head[FUZZ_CHOICES + 2];
    struct body b = {0};

    if (!golden_as_binary(c, &b))
        abort();
    memcpy(head, choices, FUZZ_CHOICES);
    head[FUZZ_CHOICES] = (uint8_t)b.header_length;
    head[FUZZ_CHOICES + 1] = (uint8_t)(b.header_length >> 8);
    if (b.size <= BODY_MAX)
        put("frame", head, sizeof(head), b.data, b.size);
    free(b.data);
}

static void put_safetensors(const struct golden_case *c, const uint8_t *choices)
{
    struct body b = {0};

    if (golden_as_safetensors(c, &b) && b.size <= BODY_MAX) {
        put("safetensors", choices, FUZZ_CHOICES, b.data, b.size);
        put("file", "", 0, b.data, b.size);
    }
    free(b.data);
}

static void put_case(struct golden_case *c, int number)
{
    uint8_t choices[FUZZ_CHOICES] = {op_number(c->op), 0, (uint8_t)number};
    int64_t memory[RANK_MAX + 1];

    put_safetensors(c, choices);
    if (!golden_without_complex(c, memory))
        return;
    put_json(c, choices);
    put_binary(c, choices);
}

static void put_golden(const char *op)
{
    char path[PATH_BYTES];
    struct golden golden;
    struct golden_case c;

    snprintf(path, sizeof(path), "tests/golden/%s.jsonl", op);
    golden_open(&golden, path);
    for (int i = 0; golden_next(&golden, &c); i++)
        if (i % STEP == 0)
            put_case(&c, i / STEP);
    golden_close(&golden);
}

/* ----------------------------------------------------------------------------------- from texts */

static const struct {
    const char *target, *text;
} texts[] = {
    {"request_json", "\x05\x10\x03{\"inputs\":{\"tensor\":[1,2,3,4],\"indices\":[[1],[3]],"
                     "\"updates\":[10,20]}}"},
    {"recall", "\x05\x05\x55{\"inputs\":{\"tensor\":[1,2,3,4],\"indices\":[[1],[3]],"
               "\"updates\":[10,20]}}"},
    {"request_json",
     "\x01\x10\x03{\"id\":\"a\\u00e9\",\"outputs\":[{\"name\":\"output\",\"parameters\""
     ":{\"binary_data\":true}}],\"inputs\":[{\"name\":\"x\",\"data\":[[\"\\ud83d"
     "\\ude00\",\"b\"]],\"datatype\":\"BYTES\",\"shape\":[1,2]},{\"name\":"
     "\"indices\",\"data\":[0]}],\"parameters\":{\"timeout\":5,\"priority\":1,"
     "\"device\":\"cuda:1\",\"json_nonfinite\":\"null\"}}"},
    {"head", "application/json\n\n\n*/*"},
    {"head", "application/x-www-form-urlencoded\n311\ngzip\napplication/octet-stream"},
    {"head", "application/vnd.safetensors; q=1\n\ndeflate\n"
             "text/html;q=0.5, application/safetensors, application/problem+json"},
    {"head", "\n9223372036854775808\nidentity\napplication/problem+json;q=0, */*"},
    {"headers", "POST\n/v2/models/scatter_nd/versions/1/infer\nHTTP/1.1\nHost: a\n"
                "Content-Length: 12\nInference-Header-Content-Length: 12\n"
                "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
    {"headers", "POST\n/v2/models/GatherNd/infer\nHTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n"
                "Expect: 100-continue\nX-Request-Id: 7\nAccept: */*"},
    {"headers", "GET\n/v2/cudasharedmemory/region/r/status\nHTTP/1.0"},
    {"headers", "OPTIONS\n/v2/models/stats\nHTTP/1.1\nHost: a\nOrigin: b\nContent-Length: 0"},
    {"headers", "GET\n/v2/models/x/trace/setting\nHTTP/1.1\nHost: a\nHost: b\nContent-Length: +1"},
    {"headers", "PUT\n/v2/tensors/emb.next\nHTTP/1.1\nHost: a\nContent-Length: 3\nIf-Match: \"a\"\n"
                "Idempotency-Key: k\nSec-Fetch-Site: same-origin\nUpdate-Source: s"},
    {"headers", "DELETE\n/v2/tensors/.a\nHTTP/1.1\nHost: a\nIf-None-Match: *"},
    {"headers", "PATCH\n/v2/tensors/a/data\nHTTP/1.1\nHost: a"},
    {"request_json",
     "\x08\x10\x10{\"inputs\":{\"indices\":[[0]]},\"parameters\":{\"tensor\":\"emb\"}}"},
    {"request_json", "\x01\x10\x10{\"inputs\":{\"indices\":{\"tensor\":\"a\"},\"updates\":[1]},"
                     "\"parameters\":{\"tensor\":\"emb\",\"into\":\"emb\"}}"},
    {"request_json",
     "\x08\x10\x10{\"inputs\":[{\"name\":\"params\",\"datatype\":\"FP32\",\"shape\":[2],"
     "\"parameters\":{\"shared_memory_region\":\"a\",\"shared_memory_byte_size\":8,"
     "\"shared_memory_offset\":0}}],\"outputs\":[{\"name\":\"output\",\"parameters\":"
     "{\"shared_memory_region\":\"b\"}}]}"},
    {"tensor", "\x01\x10\x10\x10{\"datatype\":\"FP32\",\"shape\":[2],\"data\":[1,2.5]}"},
    {"tensor", "\x01\x10\x01\x10{\"datatype\":\"INT8\",\"shape\":[1000000000]}"},
    {"tensor", "\x01\x10\x10\x10{\"ttl\":\"600s\"}"},
    {"tensor", "\x02\x10\x01\x10"
               "A\x01\x01\x01\x01\x01\x01\x01{\"x\":{\"dtype\":\"F32\"}}"},
    {"kept", "\x10\x11\x01"
             "into=emb&datatype=INT8&shape=2,2&ttl=5m\n\n*\nk\nabcd"},
    {"kept", "\x10\x11\x01"
             "into=at\n*\n\n\"k\"\n{\"datatype\":\"INT64\",\"shape\":[2],\"data\":[1,-2]}"},
    {"kept", "\x11\x11\x01"
             "into=emb&move=emb.next\n\n\n\n"},
    {"kept", "\x12\x11\x01"
             "into=emb&rows=1:3\n\n\n\n{\"data\":[[1],[2]]}"},
    {"kept", "\x13\x11\x01"
             "into=emb&rows=0:2\n\n\"x\"\n\n"},
    {"kept", "\x14\x11\x01"
             "into=at\n\n\n\n{\"ttl\":\"1h\"}"},
    {"kept", "\x15\x11\x01"
             "into=at\n\n\nk\n"},
    {"kept", "\x16\x11\x01"
             "tensor=emb&into=emb\n*\n\nk\n{\"inputs\":{\"indices\":[[1]],\"updates\":[[5]]}}"},
    {"kept",
     "\x16\x12\x01"
     "tensor=emb\n\n\n\n{\"inputs\":{\"indices\":{\"tensor\":\"at\"},\"updates\":[[5],[6]]},"
     "\"parameters\":{\"into\":\"made\"}}"},
    {"query", "tensor=emb&into=emb.next\n\"1-0-2\", W/\"x\"\n*\nlog\n17-0\nalice-*:ro"},
    {"query", "datatype=FP32&shape=2%2C3&rows=0:2&ttl=600s&move=a%41\n\n\n\n\n*"},
    {"query", "after=a&limit=10&ttl=5ms&rows=7:7&tensor=a&tensor=a\n*\n\"a\nx\n1-2-3\n"},
    {"number", "\x0a"
               "1.5,-0.0,1e400,4.9e-324,0.1,1e22,9007199254740993"},
    {"number", "\x0b"
               "2.2250738585072011e-308,1.7976931348623157e308,123456789012345678901234"},
    {"number", "\x03"
               "9223372036854775807,-9223372036854775808,1.0,1e3,12e-1"},
    {"number", "\x07"
               "18446744073709551615,18446744073709551616,-1"},
    {"tokens", "Bearer Zm9v\n# all\nalice:Zm9v\nbob:sha256:2c26b46b68ffc68ff99b453c1d304134"
               "13422d706483bfa0f98a5e886266e7ae rate=100/s bytes=10M/s\n"},
    {"tokens", "basic x\nalice:a b=c\n\n:x\na:sha256:\nalice:b\n"},
    {"settings", "10.0.0.0/8, 2001:db8::/32,192.0.2.1, unix"},
    {"settings", "[2001:db8::1]:443"},
    {"settings", "192.0.2.1:80"},
    {"settings", "https://app.example:8443, http://localhost:3000"},
    {"settings", "10M/s"},
    {"settings", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"},
    {"config", "# all\n[tensord]\nlisten = 127.0.0.1:0, unix:/run/a ; b\nmemory=auto\n"},
    {"config", "max-body = 2G\nlog_requests = no\ndrain_delay = 250ms\ndevice=cpu\n"},
};

/* Files of kept tensors, as the server writes them; each has 8 bytes of data. */
static void put_files(void)
{
    static const char head[] =
        "{\"__metadata__\":{\"tensord.generation\":\"0123456789abcdef\",\"tensord.epoch\":\"7\","
        "\"tensord.version\":\"12\",\"tensord.created\":\"1700000000000\",\"tensord.ttl\":"
        "\"600000\"";
    static const char key[] =
        ",\"tensord.key.00112233445566778899aabbccddeeff\":\"00112233445566778899aabbccddeeff"
        "00112233445566778899aabbccddeeff 9000000000000 200 \\\"1-2\\\" {\\\"a\\\":1}\\n\"";
    static const char *const more[] = {"", ",\"tensord.from.log\":\"17-0\"", key};
    static const char tail[] = "},\"t\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";

    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
        char text[1024];
        uint64_t size =
            (uint64_t)snprintf(text, sizeof(text), "%s%s%s12345678", head, more[i], tail);
        uint64_t json = size - 8;

        put("file", &json, sizeof(json), text, size);
    }
}

/* The bits of every kind of float: zeros, subnormals, powers of two, one less, one more. */
static void put_floats(void)
{
    uint8_t input[1 + sizeof(uint64_t)];

    for (int type = 0; type < 4; type++)
        for (int bit = 0; bit < 64; bit++)
            for (int more = -1; more <= 1; more++) {
                uint64_t bits = ((uint64_t)1 << bit) + (uint64_t)more;

                input[0] = (uint8_t)type;
                memcpy(input + 1, &bits, sizeof(bits));
                put("print", "", 0, input, sizeof(input));
            }
}

static void put_settings(void)
{
    for (int i = 0; i < setting_count(); i++) {
        char line[CONFIG_TEXT_MAX];

        snprintf(line, sizeof(line), "%s = %s\n", setting_at(i)->name, setting_at(i)->standard);
        put_text("config", line);
    }
}

int main(int argc, char **argv)
{
    static const char *const targets[] = {
        "request_json", "recall", "frame", "safetensors", "inflate", "number",
        "print",        "slices", "head",  "headers",     "config",  "tokens",
        "settings",     "tensor", "query", "kept",        "file",
    };

    if (argc != 2)
        return 2;
    folder = argv[1];
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        char path[PATH_BYTES];

        snprintf(path, sizeof(path), "%s/%s", folder, targets[i]);
        mkdir(folder, 0777);
        mkdir(path, 0777);
    }
    for (int i = 0; i < op_count(); i++)
        put_golden(op_at(i)->name);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        put_text(texts[i].target, texts[i].text);
    put_settings();
    put_files();
    put_floats();
    printf("%d seeds\n", written);
    return 0;
}
