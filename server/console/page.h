/* page: console.html as the Makefile embeds it: see embed.sh. */
#ifndef SERVER_CONSOLE_PAGE_H
#define SERVER_CONSOLE_PAGE_H

#include <stddef.h>

/* One encoding of the page. */
struct console_form {
    const unsigned char *bytes;
    size_t size;
    const char *etag; /* with its quotes; every encoding has its own */
};

extern const struct console_form console_plain, console_gzip;

/* Content-Security-Policy: nothing runs and nothing is drawn but what stands in the page. */
extern const char console_policy[];

#endif
