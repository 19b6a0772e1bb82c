#include "server/follow/settings.h"

#include "proto/request/tensor_name.h"
#include "server/config/allowed.h"

#include <stddef.h>
#include <string.h>

static const struct setting list[] = {
#define X(NAME, KIND, DEFAULT, ALLOWED, HELP)                                                      \
    {#NAME, CONFIG_##KIND, DEFAULT, {ALLOWED}, false, HELP, offsetof(struct settings, NAME)},
    SETTINGS_TABLE(X)
#undef X
};

static const struct settings_table table = {"tensord-follow", "FOLLOW_", list,
                                            sizeof list / sizeof *list};

bool settings_know(const char *name)
{
    return settings_table_find(&table, name) != NULL;
}

/* --------------------------------------------------------------------------- what fits together */

static bool begins(const char *text, const char *first, const char *second)
{
    return strncmp(text, first, strlen(first)) == 0 || strncmp(text, second, strlen(second)) == 0;
}

const char *settings_source(const struct settings *s)
{
    return *s->source ? s->source : s->stream;
}

static const char *fault_of(const struct settings *s)
{
    const char *source = settings_source(s);
    size_t size = strlen(source);
    if (size > SOURCE_MAX || !tensor_name_is_legal(source, size))
        return "source (empty: as stream) must be 1 to 64 letters, digits, '_', '.' and '-'";
    if (!*s->stream)
        return "stream must not be empty";
    if (!begins(s->server, "http://", "https://"))
        return "server must begin with http:// or https://";
    if (!begins(s->redis, "redis://", "rediss://"))
        return "redis must begin with redis:// or rediss://";
    if (!*s->server_cert != !*s->server_key)
        return "server_cert and server_key belong together";
    if (!*s->redis_cert != !*s->redis_key)
        return "redis_cert and redis_key belong together";
    if (*s->redis_user && !*s->redis_password_file)
        return "redis_user needs redis_password_file";
    if (s->most_pause < s->least_pause)
        return "most_pause must not be shorter than least_pause";
    return NULL;
}

bool settings_load(struct settings *settings, const struct config_sources *sources,
                   config_fault *told, void *context)
{
    struct error error;
    memset(settings, 0, sizeof *settings);
    settings_table_init(&table, settings);
    if (!settings_table_read(&table, settings, sources, told, context))
        return false;
    const char *fault = fault_of(settings);
    if (!fault)
        return true;
    (void)error_set(&error, ERROR_INVALID_PARAMETER, NULL, "%s", fault);
    told(context, &error);
    return false;
}

/* ------------------------------------------------------------------------------------- printing */

void settings_print(const struct settings *settings, FILE *out)
{
    settings_table_print(&table, settings, out);
}

void settings_help(FILE *out)
{
    fprintf(out,
            "tensord-follow: posts the requests in a Redis stream to one tensord, each once\n\n"
            "  tensord-follow [--config=FILE] [--name=value ...]\n\n"
            "  --print-config   print the settings that result, as a file, and exit\n"
            "  --check-config   exit 0 if the settings are right\n"
            "  --version, --help, -h\n\n");
    settings_table_help(&table, out);
}
