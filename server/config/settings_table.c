#include "server/config/settings_table.h"

#include "kernels/nearest.h"
#include "server/config/value.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* Copies a name as the table has it, cut to `size`; returns the length. */
static size_t underscored(const char *name, char *copy, size_t size)
{
    size_t length = 0;
    for (; name[length] && length < size - 1; length++)
        copy[length] = name[length] == '-' ? '_' : name[length];
    copy[length] = '\0';
    return length;
}

const struct setting *settings_table_find(const struct settings_table *table, const char *name)
{
    char written[64];
    underscored(name, written, sizeof written);
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, written) == 0)
            return &table->rows[i];
    return NULL;
}

config_number *settings_table_number(const void *values, const struct setting *setting)
{
    return (config_number *)((char *)(uintptr_t)values + setting->offset);
}

char *settings_table_text(const void *values, const struct setting *setting)
{
    return (char *)(uintptr_t)values + setting->offset;
}

static enum error_code set_text(void *values, const struct setting *setting, const char *value,
                                struct error *error)
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
    memcpy(settings_table_text(values, setting), value, size + 1);
    return ERROR_NONE;
}

static enum error_code refuse_name(const struct settings_table *table, const char *name,
                                   struct error *error)
{
    char written[64];
    struct nearest near = nearest_to(written, underscored(name, written, sizeof written));
    for (int i = 0; i < table->count; i++)
        nearest_offer(&near, table->rows[i].name);
    if (near.found)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "there is no setting %.100s, did you mean %s?", name, near.found);
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "there is no setting %.100s (%s --help lists them)", name, table->program);
}

enum error_code settings_table_set(const struct settings_table *table, void *values,
                                   const char *name, const char *value, struct error *error)
{
    const struct setting *setting = settings_table_find(table, name);
    if (!setting)
        return refuse_name(table, name, error);
    if (setting->kind == CONFIG_TEXT)
        return set_text(values, setting, value, error);
    uint64_t number;
    enum error_code code = config_number_parse(setting, value, &number, error);
    if (code == ERROR_NONE)
        *settings_table_number(values, setting) = number;
    return code;
}

void settings_table_init(const struct settings_table *table, void *values)
{
    struct error error;
    for (int i = 0; i < table->count; i++) {
        const struct setting *setting = &table->rows[i];
        enum error_code code =
            settings_table_set(table, values, setting->name, setting->standard, &error);
        assert(code == ERROR_NONE);
    }
}

/* ------------------------------------------------------------------------------------- printing */

void settings_table_value(const void *values, const struct setting *setting, char *text)
{
    if (setting->kind == CONFIG_TEXT)
        snprintf(text, CONFIG_VALUE_MAX, "%s", settings_table_text(values, setting));
    else
        config_number_print(setting, *settings_table_number(values, setting), text);
}

void settings_table_print(const struct settings_table *table, const void *values, FILE *out)
{
    char value[CONFIG_VALUE_MAX];
    fprintf(out,
            "# The settings of %s. Each is also --name=value on the command line and\n"
            "# %sNAME in the environment; these win over this file. A line with # in\n"
            "# front shows the default.\n",
            table->program, table->prefix);
    for (int i = 0; i < table->count; i++) {
        const struct setting *setting = &table->rows[i];
        settings_table_value(values, setting, value);
        fprintf(out, "\n# %s.%s\n%s%s =%s%s\n", setting->help,
                setting->reloadable ? " SIGHUP applies a change." : "",
                strcmp(value, setting->standard) == 0 ? "#" : "", setting->name, *value ? " " : "",
                value);
    }
}

void settings_table_help(const struct settings_table *table, FILE *out)
{
    fprintf(out, "Settings (also in FILE as name = value, and in the environment as %sNAME):\n",
            table->prefix);
    for (int i = 0; i < table->count; i++) {
        const struct setting *setting = &table->rows[i];
        char option[80];
        snprintf(option, sizeof option, "--%s=%s", setting->name, setting->standard);
        fprintf(out, "  %-30s %s\n", option, setting->help);
    }
}
