#include "server/follow/standing.h"

#include <cjson/cJSON.h>

static bool read_position(struct entry_id *stands, const cJSON *positions, const char *source)
{
    if (!cJSON_IsObject(positions))
        return false;
    const cJSON *position = cJSON_GetObjectItemCaseSensitive(positions, source);
    if (!position)
        return true;
    return cJSON_IsString(position) && entry_id_parse(stands, position->valuestring);
}

bool standing_read(struct entry_id *stands, const char *answer, const char *source)
{
    cJSON *tree = cJSON_Parse(answer);
    *stands = (struct entry_id){0, 0};
    bool is_right =
        read_position(stands, cJSON_GetObjectItemCaseSensitive(tree, "positions"), source);
    cJSON_Delete(tree);
    return is_right;
}
