/* accept: lists with weights, as Accept and Accept-Encoding have them (RFC 9110, 12.4.2). */
#ifndef SERVER_HTTP_ACCEPT_H
#define SERVER_HTTP_ACCEPT_H

/* The weight of `name` in the list, in thousandths: 1000 where it stands without one, 0 where it is
 * refused, -1 where the list does not name it (a wildcard names nothing) or is NULL. */
int accept_weight(const char *list, const char *name);

#endif
