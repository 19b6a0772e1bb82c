/* life: from settings to a server that is ready, and from a signal to its end. */
#ifndef SERVER_LIFE_LIFE_H
#define SERVER_LIFE_LIFE_H

#include "server/config/config.h"

/* Called before any thread starts: blocks the signals that life_serve waits for, raises the limit
 * of open files as far as it goes, and opens standard streams that are closed. */
void life_prepare_process(void);

/* Serves until a signal ends it; returns the exit status. The settings are loaded from `sources`,
 * and again on SIGHUP. Errors before the start go to standard error, and nowhere else. */
int life_serve(const struct config_sources *sources);

/* Prints a fault to standard error; a config_fault. life_fail also returns the exit status. */
void life_report(void *context, const struct error *fault);
int life_fail(const struct error *error);

#endif
