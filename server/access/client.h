/* client: a sender of requests, with its share of the memory and its use of quotas. A client is a
 * token's name, or an address where there is no token. It exists while a request or the table of
 * tokens refers to it. */
#ifndef SERVER_ACCESS_CLIENT_H
#define SERVER_ACCESS_CLIENT_H

#include "server/access/quota.h"
#include "server/memory/budget.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLIENT_NAME_MAX = 80, CLIENT_BUCKETS = 1024 };

enum client_kind { CLIENT_TOKEN, CLIENT_ADDRESS };

struct client {
    struct client *next; /* of its bucket */
    int references;
    enum client_kind kind;
    char name[CLIENT_NAME_MAX];
    struct budget share; /* its part of the memory */
    struct quota requests, bytes;
    _Atomic uint64_t tensor_bytes, tensor_count; /* residents that it made */
};

struct clients {
    pthread_mutex_t lock;
    struct client *buckets[CLIENT_BUCKETS];
    size_t share_bytes;
};

/* Each client may hold `share_bytes` of memory. */
void clients_init(struct clients *clients, size_t share_bytes);

/* All clients must have left. */
void clients_release(struct clients *clients);

/* The client of that name, made if it is new; NULL without memory. The caller leaves it. */
struct client *clients_enter(struct clients *clients, enum client_kind kind, const char *name);

/* One more reference to a client. Another reference must keep the client alive during the call. */
void clients_hold(struct clients *clients, struct client *client);

void clients_leave(struct clients *clients, struct client *client); /* NULL is fine */

#endif
