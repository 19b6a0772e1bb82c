/* allowed: the words of a table's column ALLOWED, for those who make rows of it. */
#ifndef SERVER_CONFIG_ALLOWED_H
#define SERVER_CONFIG_ALLOWED_H

#define ANY                .words = NULL
#define RANGE(LEAST, MOST) .least = (LEAST), .most = (MOST)
#define AUTO(LEAST, MOST)  .automatic = true, .least = (LEAST), .most = (MOST)
#define WORDS(...)                                                                                 \
    .words = (const char *const[])                                                                 \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

#endif
