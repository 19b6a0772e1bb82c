#include "proto/request/tensor_name.h"

static bool is_allowed(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

bool tensor_name_is_legal(const char *name, size_t size)
{
    if (size < 1 || size > TENSOR_NAME_MAX || name[0] == '.')
        return false;
    for (size_t i = 0; i < size; i++)
        if (!is_allowed(name[i]))
            return false;
    return true;
}
