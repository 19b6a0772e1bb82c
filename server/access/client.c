#include "server/access/client.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void clients_init(struct clients *clients, size_t share_bytes)
{
    *clients = (struct clients){.share_bytes = share_bytes};
    pthread_mutex_init(&clients->lock, NULL);
}

void clients_release(struct clients *clients)
{
    for (int i = 0; i < CLIENT_BUCKETS; i++)
        assert(!clients->buckets[i]);
    pthread_mutex_destroy(&clients->lock);
}

/* A client that chooses its address chooses its bucket, so a bucket can be made long on purpose;
 * the number of open requests, which is bounded, bounds its length. */
static struct client **client_bucket(struct clients *clients, enum client_kind kind,
                                     const char *name)
{
    uint32_t hash = 2166136261u ^ (uint32_t)kind;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return &clients->buckets[hash % CLIENT_BUCKETS];
}

static struct client *find_client(struct client *first, enum client_kind kind, const char *name)
{
    while (first && (first->kind != kind || strcmp(first->name, name) != 0))
        first = first->next;
    return first;
}

static struct client *make_client(const struct clients *clients, enum client_kind kind,
                                  const char *name)
{
    struct client *client = calloc(1, sizeof *client);
    if (!client)
        return NULL;
    assert(strlen(name) < CLIENT_NAME_MAX);
    strcpy(client->name, name);
    client->kind = kind;
    budget_init(&client->share, clients->share_bytes);
    client->share.kept = 0;
    return client;
}

struct client *clients_enter(struct clients *clients, enum client_kind kind, const char *name)
{
    struct client **bucket = client_bucket(clients, kind, name);
    pthread_mutex_lock(&clients->lock);
    struct client *client = find_client(*bucket, kind, name);
    if (!client && (client = make_client(clients, kind, name))) {
        client->next = *bucket;
        *bucket = client;
    }
    if (client)
        client->references++;
    pthread_mutex_unlock(&clients->lock);
    return client;
}

void clients_hold(struct clients *clients, struct client *client)
{
    pthread_mutex_lock(&clients->lock);
    client->references++;
    pthread_mutex_unlock(&clients->lock);
}

static void unlink_client(struct clients *clients, struct client *client)
{
    struct client **link = client_bucket(clients, client->kind, client->name);
    while (*link != client)
        link = &(*link)->next;
    *link = client->next;
}

void clients_leave(struct clients *clients, struct client *client)
{
    if (!client)
        return;
    pthread_mutex_lock(&clients->lock);
    bool is_last = --client->references == 0;
    if (is_last)
        unlink_client(clients, client);
    pthread_mutex_unlock(&clients->lock);
    if (!is_last)
        return;
    assert(budget_used(&client->share) == 0);
    free(client);
}
