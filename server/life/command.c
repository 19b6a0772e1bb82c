#include "server/life/command.h"

#include "kernels/nearest.h"

#include <string.h>

static const struct {
    const char *option;
    enum command_verb verb;
} verbs[] = {
    {"--help", COMMAND_HELP},
    {"-h", COMMAND_HELP},
    {"--version", COMMAND_VERSION},
    {"--print-config", COMMAND_PRINT_CONFIG},
    {"--print-machine", COMMAND_PRINT_MACHINE},
    {"--check-config", COMMAND_CHECK_CONFIG},
    {"--health", COMMAND_HEALTH},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

static bool find_verb(const char *argument, enum command_verb *verb)
{
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(argument, verbs[i].option) == 0) {
            *verb = verbs[i].verb;
            return true;
        }
    return false;
}

static enum error_code refuse(const char *argument, struct error *error)
{
    struct nearest near = nearest_to(argument, strlen(argument));
    const char *name = argument + strspn(argument, "-");
    if (name != argument && (setting_find(name) || strcmp(name, "config") == 0))
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "argument %.100s: its value follows a '=', as in --%.100s=value", argument,
                         name);
    for (size_t i = 0; i < VERBS; i++)
        nearest_offer(&near, verbs[i].option);
    if (near.found)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL, "argument %.100s: did you mean %s?",
                         argument, near.found);
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "argument %.100s: allowed are --name=value, --config=FILE, --print-config, "
                     "--print-machine, --check-config, --health, --version and --help",
                     argument);
}

enum error_code command_parse(struct command *command, char **arguments, char **environment,
                              struct error *error)
{
    *command = (struct command){.sources = {.environment = environment, .arguments = arguments}};
    for (char **e = environment; *e; e++)
        if (strncmp(*e, "TENSORD_CONFIG=", 15) == 0)
            command->sources.file = *e + 15;
    for (char **a = arguments; *a; a++) {
        if (strncmp(*a, "--config=", 9) == 0)
            command->sources.file = *a + 9;
        else if (!find_verb(*a, &command->verb) && (strncmp(*a, "--", 2) != 0 || !strchr(*a, '=')))
            return refuse(*a, error);
    }
    return ERROR_NONE;
}
