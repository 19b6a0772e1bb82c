#include "server/config/config.h"

#include "kernels/nearest.h"
#include "server/config/value.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define ANY                .words = NULL
#define RANGE(LEAST, MOST) .least = (LEAST), .most = (MOST)
#define AUTO(LEAST, MOST)  .automatic = true, .least = (LEAST), .most = (MOST)
#define WORDS(...)                                                                                 \
    .words = (const char *const[])                                                                 \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define WORD_OF(ID, TEXT) TEXT,
#define WORDS_OF(TABLE)                                                                            \
    .words = (const char *const[])                                                                 \
    {                                                                                              \
        TABLE(WORD_OF) NULL                                                                        \
    }

static const struct setting settings[] = {
#define X(NAME, KIND, DEFAULT, ALLOWED, RELOAD, HELP)                                              \
    {#NAME, CONFIG_##KIND, DEFAULT, {ALLOWED}, RELOAD, HELP, offsetof(struct config, NAME)},
    CONFIG_TABLE(X)
#undef X
};

enum { SETTINGS = sizeof settings / sizeof *settings };

int setting_count(void)
{
    return SETTINGS;
}

const struct setting *setting_at(int i)
{
    assert(i >= 0 && i < SETTINGS);
    return &settings[i];
}

/* Copies a name as the table has it, cut to `size`; returns the length. */
static size_t underscored(const char *name, char *copy, size_t size)
{
    size_t length = 0;
    for (; name[length] && length < size - 1; length++)
        copy[length] = name[length] == '-' ? '_' : name[length];
    copy[length] = '\0';
    return length;
}

const struct setting *setting_find(const char *name)
{
    char written[64];
    underscored(name, written, sizeof written);
    for (int i = 0; i < SETTINGS; i++)
        if (strcmp(settings[i].name, written) == 0)
            return &settings[i];
    return NULL;
}

static config_number *number_at(const struct config *config, const struct setting *setting)
{
    return (config_number *)((char *)config + setting->offset);
}

static char *text_at(const struct config *config, const struct setting *setting)
{
    return (char *)config + setting->offset;
}

static enum error_code set_text(struct config *config, const struct setting *setting,
                                const char *value, struct error *error)
{
    size_t size = strlen(value);
    if (size >= CONFIG_TEXT_MAX)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "%s has %zu bytes, allowed are at most %d", setting->name, size,
                         CONFIG_TEXT_MAX - 1);
    if (value[strcspn(value, ";\r\n")])
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "%s holds a ';' or a line's end, which a configuration file has no way to "
                         "write",
                         setting->name);
    memcpy(text_at(config, setting), value, size + 1);
    return ERROR_NONE;
}

static enum error_code refuse_name(const char *name, struct error *error)
{
    char written[64];
    struct nearest near = nearest_to(written, underscored(name, written, sizeof written));
    for (int i = 0; i < SETTINGS; i++)
        nearest_offer(&near, settings[i].name);
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     near.found ? "there is no setting %.100s, did you mean %s?"
                                : "there is no setting %.100s (tensord --help lists them)",
                     name, near.found);
}

enum error_code config_set(struct config *config, const char *name, const char *value,
                           struct error *error)
{
    const struct setting *setting = setting_find(name);
    if (!setting)
        return refuse_name(name, error);
    if (setting->kind == CONFIG_TEXT)
        return set_text(config, setting, value, error);
    uint64_t number;
    enum error_code code = config_number_parse(setting, value, &number, error);
    if (code == ERROR_NONE)
        *number_at(config, setting) = number;
    return code;
}

void config_init(struct config *config)
{
    struct error error;
    memset(config, 0, sizeof *config);
    for (int i = 0; i < SETTINGS; i++) {
        enum error_code code = config_set(config, settings[i].name, settings[i].standard, &error);
        assert(code == ERROR_NONE);
    }
}

void config_reload(struct config *config, const struct config *next,
                   void (*ignored)(void *context, const struct setting *setting), void *context)
{
    for (int i = 0; i < SETTINGS; i++) {
        const struct setting *s = &settings[i];
        if (s->kind == CONFIG_TEXT) {
            if (strcmp(text_at(config, s), text_at(next, s)) != 0)
                ignored(context, s);
        } else if (s->reloadable) {
            *number_at(config, s) = *number_at(next, s);
        } else if (*number_at(config, s) != *number_at(next, s)) {
            ignored(context, s);
        }
    }
}

void config_value_print(const struct config *config, const struct setting *setting, char *text)
{
    if (setting->kind == CONFIG_TEXT)
        snprintf(text, CONFIG_VALUE_MAX, "%s", text_at(config, setting));
    else
        config_number_print(setting, *number_at(config, setting), text);
}
