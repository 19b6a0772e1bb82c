#include "server/config/config.h"

#include <string.h>

static void print_allowed(const struct setting *setting, FILE *out)
{
    if (setting->reloadable)
        fprintf(out, " SIGHUP applies a change.");
}

void config_print(const struct config *config, FILE *out)
{
    char value[CONFIG_VALUE_MAX];
    fprintf(out, "# The settings of tensord. Each is also --name=value on the command line and\n"
                 "# TENSORD_NAME in the environment; these win over this file. A line with # in\n"
                 "# front shows the default.\n");
    for (int i = 0; i < setting_count(); i++) {
        const struct setting *setting = setting_at(i);
        config_value_print(config, setting, value);
        fprintf(out, "\n# %s.", setting->help);
        print_allowed(setting, out);
        fprintf(out, "\n%s%s =%s%s\n", strcmp(value, setting->standard) == 0 ? "#" : "",
                setting->name, *value ? " " : "", value);
    }
}

void config_print_changes(const struct config *config, FILE *out)
{
    char value[CONFIG_VALUE_MAX];
    int count = 0;
    for (int i = 0; i < setting_count(); i++) {
        const struct setting *setting = setting_at(i);
        config_value_print(config, setting, value);
        if (strcmp(value, setting->standard) != 0)
            count += fprintf(out, "%s = %s\n", setting->name, value) > 0;
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
            "  --version, --help, -h\n\n"
            "Settings (also in FILE as name = value, and in the environment as "
            "TENSORD_NAME):\n");
    for (int i = 0; i < setting_count(); i++) {
        const struct setting *setting = setting_at(i);
        char option[80];
        snprintf(option, sizeof option, "--%s=%s", setting->name, setting->standard);
        fprintf(out, "  %-30s %s\n", option, setting->help);
    }
}
