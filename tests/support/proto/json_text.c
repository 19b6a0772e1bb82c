#include "tests/support/proto/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

cJSON *json_text_parse(const struct text *text)
{
    cJSON *json = cJSON_ParseWithLength(text->data, text->size);
    assert_false(text->cut);
    if (!json)
        fail_msg("not JSON: %s", text->data);
    return json;
}

const cJSON *json_text_at(const cJSON *item, const char *path)
{
    char step[64];
    while (*path) {
        size_t size = strcspn(path, ".");
        assert_true(size < sizeof step);
        memcpy(step, path, size);
        step[size] = '\0';
        const cJSON *parent = item;
        item = cJSON_IsArray(item) ? cJSON_GetArrayItem(item, atoi(step))
                                   : cJSON_GetObjectItemCaseSensitive(item, step);
        if (!item)
            fail_msg("there is no %s in %s", path, cJSON_PrintUnformatted(parent));
        path += size + (path[size] == '.');
    }
    return item;
}
