/* config_value: a setting's value as text, read and printed by its kind. */
#ifndef SERVER_CONFIG_VALUE_H
#define SERVER_CONFIG_VALUE_H

#include "server/config/settings_table.h"

/* Reads a number of the setting's kind. Errors: INVALID_PARAMETER, saying what is allowed. */
MUST_CHECK enum error_code config_number_parse(const struct setting *setting, const char *text,
                                               uint64_t *value, struct error *error);

/* The inverse, into `text` of CONFIG_VALUE_MAX bytes. */
void config_number_print(const struct setting *setting, uint64_t value, char *text);

/* "600s", "1h": digits and ms, s, m or h, as nanoseconds. False for anything else. */
bool config_time_parse(const char *text, uint64_t *ns);

#endif
