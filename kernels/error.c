#include "kernels/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_clear(struct error *e)
{
    e->code = ERROR_NONE;
}

/* Cuts `text` of `size` bytes before the character that its end has torn apart. */
static void cut_torn_character(char *text, size_t size)
{
    size_t start = size;
    while (start > 0 && size - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (start - 1 + length > size)
        text[start - 1] = '\0';
}

enum error_code error_set(struct error *e, enum error_code code, const char *input,
                          const char *format, ...)
{
    e->code = code;
    e->input = input;
    e->fault_count = 0;
    e->bound_rank = 0;
    e->invalid_count = 0;

    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(e->message, sizeof e->message, format, arguments);
    va_end(arguments);
    if (length < 0)
        e->message[0] = '\0';
    else if ((size_t)length >= sizeof e->message)
        cut_torn_character(e->message, strlen(e->message));
    return code;
}

const char *error_name(enum error_code code)
{
    static const char *const names[ERROR_CODE_COUNT] = {[ERROR_NONE] = "NONE",
#define X(NAME) [ERROR_##NAME] = #NAME,
                                                        ERROR_TABLE(X)
#undef X
    };
    return names[code];
}
