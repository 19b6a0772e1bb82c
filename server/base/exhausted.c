#include "server/base/exhausted.h"

#include <stddef.h>

enum error_code error_no_memory(struct error *error)
{
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "the server has no memory left");
}
