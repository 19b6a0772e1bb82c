/* command: the command line: what the program is started for, and where its settings come from. */
#ifndef SERVER_LIFE_COMMAND_H
#define SERVER_LIFE_COMMAND_H

#include "server/config/config.h"

enum command_verb {
    COMMAND_SERVE,
    COMMAND_HELP,
    COMMAND_VERSION,
    COMMAND_PRINT_CONFIG,
    COMMAND_PRINT_MACHINE,
    COMMAND_CHECK_CONFIG,
    COMMAND_HEALTH
};

struct command {
    enum command_verb verb;
    struct config_sources sources; /* the file: --config=FILE, else TENSORD_CONFIG */
};

/* `arguments` without the program's name. Errors: INVALID_PARAMETER (an argument that is neither a
 * verb nor --name=value). */
MUST_CHECK enum error_code command_parse(struct command *command, char **arguments,
                                         char **environment, struct error *error);

#endif
