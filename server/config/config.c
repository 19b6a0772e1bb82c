#include "server/config/config.h"

#include "server/config/allowed.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

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

static const struct settings_table table = {"tensord", "TENSORD_", settings, SETTINGS};

int setting_count(void)
{
    return SETTINGS;
}

const struct setting *setting_at(int i)
{
    assert(i >= 0 && i < SETTINGS);
    return &settings[i];
}

const struct setting *setting_find(const char *name)
{
    return settings_table_find(&table, name);
}

enum error_code config_set(struct config *config, const char *name, const char *value,
                           struct error *error)
{
    return settings_table_set(&table, config, name, value, error);
}

void config_init(struct config *config)
{
    memset(config, 0, sizeof *config);
    settings_table_init(&table, config);
}

bool config_load(struct config *config, const struct config_sources *sources, config_fault *told,
                 void *context)
{
    config_init(config);
    return settings_table_read(&table, config, sources, told, context);
}

void config_reload(struct config *config, const struct config *next,
                   void (*ignored)(void *context, const struct setting *setting), void *context)
{
    for (int i = 0; i < SETTINGS; i++) {
        const struct setting *s = &settings[i];
        if (s->kind == CONFIG_TEXT) {
            if (strcmp(settings_table_text(config, s), settings_table_text(next, s)) != 0)
                ignored(context, s);
        } else if (s->reloadable) {
            *settings_table_number(config, s) = *settings_table_number(next, s);
        } else if (*settings_table_number(config, s) != *settings_table_number(next, s)) {
            ignored(context, s);
        }
    }
}

/* ------------------------------------------------------------------------------------- printing */

void config_value_print(const struct config *config, const struct setting *setting, char *text)
{
    settings_table_value(config, setting, text);
}

void config_print(const struct config *config, FILE *out)
{
    settings_table_print(&table, config, out);
}

void config_print_changes(const struct config *config, FILE *out)
{
    char value[CONFIG_VALUE_MAX];
    int count = 0;
    for (int i = 0; i < SETTINGS; i++) {
        settings_table_value(config, &settings[i], value);
        if (strcmp(value, settings[i].standard) != 0)
            count += fprintf(out, "%s = %s\n", settings[i].name, value) > 0;
    }
    if (count == 0)
        fprintf(out, "# every setting is at its default\n");
}

void config_help(FILE *out)
{
    fprintf(out,
            "tensord: scatter, gather and segment operations on tensors over HTTP\n\n"
            "  tensord [--config=FILE] [--name=value ...]\n\n"
            "  --print-config   print the settings that result, as a file, and exit\n"
            "  --print-machine  print the facts about this machine that decide how work is split\n"
            "  --check-config   exit 0 if the settings are right, and print those that are not "
            "at their default\n"
            "  --health         ask the server that these settings describe: exit 0 if ready\n"
            "  --version, --help, -h\n\n");
    settings_table_help(&table, out);
}
