#include "tests/bench/server_text.h"

#include "tests/bench/server_load.h"

#include <cjson/cJSON.h>

double text_cjson_seconds(const char *json, size_t size)
{
    int64_t start = now_ns();
    cJSON *tree = cJSON_ParseWithLength(json, size);
    char *printed = cJSON_PrintUnformatted(tree);
    int64_t end = now_ns();

    cJSON_Delete(tree);
    cJSON_free(printed);
    return printed != NULL ? (double)(end - start) / 1e9 : -1;
}
