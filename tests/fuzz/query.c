/* What a request says of kept tensors outside its body: lines with the query, If-Match,
 * If-None-Match, Update-Source, Update-Position, and what follows `tensors=` in a token's line. */
#include "server/http/query.h"
#include "server/access/rights.h"
#include "server/jobs/tensor_job.h"

#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static char *take_line(char **rest)
{
    char *line = *rest, *end = strchr(line, '\n');

    *rest = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return line;
}

static void check_query(char *text)
{
    struct query query = {{NULL}};
    struct error error;
    struct tensor said;
    int64_t from, to;
    uint64_t ttl;

    if (query_read(&query, text, ~0u, &error) != ERROR_NONE) {
        fuzz_error(&error);
        return;
    }
    const char *const *value = query.value;
    if (value[QUERY_ROWS] && query_rows(value[QUERY_ROWS], &from, &to, &error) == ERROR_NONE)
        FUZZ_CHECK(from >= 0 && from < to);
    if (value[QUERY_TTL] && tensor_ttl_parse(&ttl, value[QUERY_TTL], 1000, &error) == ERROR_NONE)
        FUZZ_CHECK(ttl > 0 && ttl <= 1000);
    if (value[QUERY_DATATYPE] && value[QUERY_SHAPE] &&
        tensor_said_parse(&said, value[QUERY_DATATYPE], value[QUERY_SHAPE], &error) == ERROR_NONE)
        FUZZ_CHECK(said.rank >= 0 && said.rank <= RANK_MAX && said.dtype != DTYPE_BYTES);
    if (value[QUERY_TENSOR])
        FUZZ_CHECK(!strpbrk(value[QUERY_TENSOR], "%+"));
}

static void check_conditions(const char *match, const char *none_match)
{
    static const char etag[] = "\"0123456789abcdef-0-1\"";
    const struct conditions c = {*match ? match : NULL, *none_match ? none_match : NULL};
    struct error error;

    if (conditions_check(&c, &error) != ERROR_NONE)
        fuzz_error(&error);
    bool holds = conditions_hold(&c, etag);
    if (!c.match && !c.none_match)
        FUZZ_CHECK(holds);
    if (c.match && !strstr(c.match, etag) && !strchr(c.match, '*'))
        FUZZ_CHECK(!holds);
    FUZZ_CHECK(!(c.match && conditions_hold(&c, NULL)));
}

static void check_position(const char *source, const char *text)
{
    struct position position;
    struct positions positions = {0};
    struct error error;

    if (position_parse(&position, source, text, &error) != ERROR_NONE) {
        fuzz_error(&error);
        return;
    }
    FUZZ_CHECK(!positions_passed(&positions, &position));
    if (positions_reserve(&positions, &position)) {
        positions_set(&positions, &position);
        FUZZ_CHECK(positions_passed(&positions, &position));
    }
    positions_release(&positions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = text;

    FUZZ_CHECK(text);
    memcpy(text, data, size);
    text[size] = '\0';
    check_query(take_line(&rest));
    const char *match = take_line(&rest);
    check_conditions(match, take_line(&rest));
    const char *source = take_line(&rest);
    check_position(source, take_line(&rest));
    struct rights *rights = rights_new();
    FUZZ_CHECK(rights);
    rights->is_restricted = true;
    if (rights_add(rights, take_line(&rest)))
        rights_allow(rights, "emb", true);
    else
        FUZZ_CHECK(!rights_allow(rights, "emb", false));
    rights_leave(rights);
    free(text);
    return 0;
}
