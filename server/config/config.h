/* config: the settings of tensord. */
#ifndef SERVER_CONFIG_CONFIG_H
#define SERVER_CONFIG_CONFIG_H

#include "server/config/settings_table.h"
#include "server/config/table.h"

struct config {
#define X(NAME, KIND, DEFAULT, ALLOWED, RELOAD, HELP) CONFIG_FIELD_##KIND NAME;
    CONFIG_TABLE(X)
#undef X
};

int setting_count(void);
const struct setting *setting_at(int i);

/* The setting of that name, in which `-` stands for `_` too; NULL when there is none. */
const struct setting *setting_find(const char *name);

/* The defaults. */
void config_init(struct config *config);

/* Reads all sources in their order, and reports every fault, whatever came before it. True when
 * there was none, else `config` must not be used. */
MUST_CHECK bool config_load(struct config *config, const struct config_sources *sources,
                            config_fault *told, void *context);

/* Sets one setting from its text. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code config_set(struct config *config, const char *name, const char *value,
                                      struct error *error);

/* Takes over the reloadable settings of `next`. Other settings that differ need a restart:
 * `ignored` is called for each. */
void config_reload(struct config *config, const struct config *next,
                   void (*ignored)(void *context, const struct setting *setting), void *context);

/* Prints a setting's value as the sources write it, into `text` of CONFIG_VALUE_MAX bytes. */
void config_value_print(const struct config *config, const struct setting *setting, char *text);

/* name = value, a line for each setting that is not at its default; a comment where all are. */
void config_print_changes(const struct config *config, FILE *out);

/* A configuration file: help and value of each setting; defaults are commented out. */
void config_print(const struct config *config, FILE *out);

void config_help(FILE *out);

#endif
