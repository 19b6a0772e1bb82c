#include "server/http/metrics_text.h"

void metrics_head(struct text *text, const char *name, const char *type, const char *help)
{
    text_printf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_number_line(struct text *text, uint64_t value)
{
    text_puts(text, " ");
    text_int(text, (int64_t)value);
    text_puts(text, "\n");
}
