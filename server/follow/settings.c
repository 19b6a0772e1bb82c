#include "server/follow/settings.h"

#include "kernels/nearest.h"
#include "proto/request/tensor_name.h"
#include "server/config/value.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define ANY                .words = NULL
#define RANGE(LEAST, MOST) .least = (LEAST), .most = (MOST)
#define WORDS(...)                                                                                 \
    .words = (const char *const[])                                                                 \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static const struct setting list[] = {
#define X(NAME, KIND, DEFAULT, ALLOWED, HELP)                                                      \
    {#NAME, CONFIG_##KIND, DEFAULT, {ALLOWED}, false, HELP, offsetof(struct settings, NAME)},
    SETTINGS_TABLE(X)
#undef X
};

enum { COUNT = sizeof list / sizeof *list };

static void underscored(const char *name, char *copy, size_t size)
{
    snprintf(copy, size, "%s", name);
    for (char *c = copy; *c; c++)
        if (*c == '-')
            *c = '_';
}

static const struct setting *find(const char *name)
{
    char written[64];
    underscored(name, written, sizeof written);
    for (int i = 0; i < COUNT; i++)
        if (strcmp(list[i].name, written) == 0)
            return &list[i];
    return NULL;
}

bool settings_know(const char *name)
{
    return find(name) != NULL;
}

static void *at(const struct settings *settings, const struct setting *setting)
{
    return (char *)(uintptr_t)settings + setting->offset;
}

static enum error_code refuse_name(const char *name, struct error *error)
{
    char written[64];
    underscored(name, written, sizeof written);
    struct nearest near = nearest_to(written, strlen(written));
    for (int i = 0; i < COUNT; i++)
        nearest_offer(&near, list[i].name);
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     near.found ? "there is no setting %.100s, did you mean %s?"
                                : "there is no setting %.100s (tensord-follow --help lists them)",
                     name, near.found);
}

static enum error_code set_text(const struct setting *setting, char *text, const char *value,
                                struct error *error)
{
    size_t size = strlen(value);
    if (size >= CONFIG_TEXT_MAX || value[strcspn(value, ";\r\n")])
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "%s: allowed are at most %d bytes without ';' and line ends",
                         setting->name, CONFIG_TEXT_MAX - 1);
    memcpy(text, value, size + 1);
    return ERROR_NONE;
}

static enum error_code set(void *settings, const char *name, const char *value, struct error *error)
{
    const struct setting *setting = find(name);
    uint64_t number;
    if (!setting)
        return refuse_name(name, error);
    if (setting->kind == CONFIG_TEXT)
        return set_text(setting, at(settings, setting), value, error);
    enum error_code code = config_number_parse(setting, value, &number, error);
    if (code == ERROR_NONE)
        *(config_number *)at(settings, setting) = number;
    return code;
}

/* --------------------------------------------------------------------------- what fits together */

static bool begins(const char *text, const char *first, const char *second)
{
    return strncmp(text, first, strlen(first)) == 0 || strncmp(text, second, strlen(second)) == 0;
}

static const char *fault_of(struct settings *s)
{
    size_t size;
    if (!*s->source)
        memcpy(s->source, s->stream, sizeof s->source);
    size = strlen(s->source);
    if (size > SOURCE_MAX || !tensor_name_is_legal(s->source, size))
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
    const struct config_reader reader = {set, settings, "tensord-follow", "FOLLOW_"};
    struct error error;
    memset(settings, 0, sizeof *settings);
    for (int i = 0; i < COUNT; i++) {
        enum error_code code = set(settings, list[i].name, list[i].standard, &error);
        assert(code == ERROR_NONE);
    }
    if (!config_read(&reader, sources, told, context))
        return false;
    const char *fault = fault_of(settings);
    if (!fault)
        return true;
    (void)error_set(&error, ERROR_INVALID_PARAMETER, NULL, "%s", fault);
    told(context, &error);
    return false;
}

/* ------------------------------------------------------------------------------------- printing */

static void print_value(const struct settings *settings, const struct setting *setting, char *text)
{
    if (setting->kind == CONFIG_TEXT)
        snprintf(text, CONFIG_VALUE_MAX, "%s", (const char *)at(settings, setting));
    else
        config_number_print(setting, *(config_number *)at(settings, setting), text);
}

void settings_print(const struct settings *settings, FILE *out)
{
    char value[CONFIG_VALUE_MAX];
    fprintf(out,
            "# The settings of tensord-follow. Each is also --name=value on the command line\n"
            "# and FOLLOW_NAME in the environment; these win over this file. A line with # in\n"
            "# front shows the default.\n");
    for (int i = 0; i < COUNT; i++) {
        print_value(settings, &list[i], value);
        bool is_standard = strcmp(value, list[i].standard) == 0;
        fprintf(out, "\n# %s.\n%s%s =%s%s\n", list[i].help, is_standard ? "#" : "", list[i].name,
                *value ? " " : "", value);
    }
}

void settings_help(FILE *out)
{
    fprintf(out,
            "tensord-follow: posts the requests in a Redis stream to one tensord, each once\n\n"
            "  tensord-follow [--config=FILE] [--name=value ...]\n\n"
            "  --print-config   print the settings that result, as a file, and exit\n"
            "  --check-config   exit 0 if the settings are right\n"
            "  --version, --help, -h\n\n"
            "Settings (also in FILE as name = value, and in the environment as FOLLOW_NAME):\n");
    for (int i = 0; i < COUNT; i++) {
        char option[80];
        snprintf(option, sizeof option, "--%s=%s", list[i].name, list[i].standard);
        fprintf(out, "  %-40s %s\n", option, list[i].help);
    }
}
