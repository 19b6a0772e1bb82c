/* quote: JSON in C without backslashes: tests write ' where JSON has ". */
#ifndef TESTS_SUPPORT_PROTO_QUOTE_H
#define TESTS_SUPPORT_PROTO_QUOTE_H

/* A copy of the text with every ' turned into ", owned by the caller. */
char *quote(const char *text);

#endif
