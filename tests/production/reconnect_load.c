/* Clients that connect anew for each request while the server ends, again and again: whoever got a
 * connection gets an answer. */
#include "tests/support/http/fixture.h"
#include "tests/support/http/pki.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SERVERS = 10, ROUNDS = 10, CLIENTS = 16, SERVED_BEFORE = 50, DAY = 24 * 60 * 60 };

/* One server and those who ask it. */
struct load {
    struct server server;
    const char *path;           /* of a Unix socket; NULL: the port */
    const struct call_tls *tls; /* NULL: plain HTTP */
    int port;                   /* of TLS, or of an inherited socket */
    pthread_t clients[CLIENTS];
    atomic_int answered, lost;
    atomic_bool is_over; /* for clients of a socket that stays */
};

static const char request[] =
    "GET /v2/health/live HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void note(struct load *load, bool is_answered)
{
    if (is_answered)
        load->answered++;
    else
        load->lost++;
}

/* These three return false when nobody listens. */
static bool ask_plainly(struct load *load)
{
    struct raw r;
    struct answer a = {0};
    if (load->path ? !raw_open_unix(&r, load->path) : !raw_open(&r, load->port))
        return false;
    note(load, raw_puts(&r, request) && raw_read(&r, &a, false) && raw_ended(&r));
    answer_release(&a);
    raw_close(&r);
    return true;
}

static bool ask_over_tls(struct load *load)
{
    const struct call call = {
        .path = "/v2/health/live", .headers = {"Connection: close"}, .tls = load->tls};
    struct client client;
    struct answer a = {0};
    curl_off_t connected = 0;
    assert_true(client_init(&client, load->port));
    bool is_answered = client_call(&client, &call, &a);
    curl_easy_getinfo(client.curl, CURLINFO_CONNECT_TIME_T, &connected);
    if (is_answered || connected > 0)
        note(load, is_answered);
    answer_release(&a);
    client_release(&client);
    return is_answered || connected > 0;
}

static void *ask_again_and_again(void *context)
{
    struct load *load = context;
    while (!load->is_over && (load->tls ? ask_over_tls(load) : ask_plainly(load)))
        continue;
    return NULL;
}

static void ask_from_now_on(struct load *load)
{
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&load->clients[i], NULL, ask_again_and_again, load), 0);
}

static void await_some(const struct load *load)
{
    for (int before = load->answered; load->answered < before + SERVED_BEFORE;)
        pause_ms(1);
}

static void check(struct load *load)
{
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(load->clients[i], NULL);
    assert_int_equal(server_wait(&load->server), 0);
    if (load->lost > 0)
        fail_msg("%d of %d requests got no answer", load->lost, load->lost + load->answered);
}

static void begin(struct load *load, const char *delay, const char *more, const char *more2,
                  const char *more3)
{
    const char *const settings[] = {delay, "--http_threads=1", "--workers=1", more, more2, more3,
                                    NULL};
    *load = (struct load){.is_over = false};
    assert_true(server_start(&load->server, settings));
    load->port = load->server.port;
}

static void a_hundred_drains_lose_nothing(void **state)
{
    static struct load loads[SERVERS];
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SERVERS; i++) {
            begin(&loads[i], i % 2 ? "--drain_delay=50ms" : "--drain_delay=0", NULL, NULL, NULL);
            ask_from_now_on(&loads[i]);
        }
        for (int i = 0; i < SERVERS; i++) {
            await_some(&loads[i]);
            server_terminate(&loads[i].server);
        }
        for (int i = 0; i < SERVERS; i++)
            check(&loads[i]);
    }
}

static void neither_does_a_unix_socket(void **state)
{
    static struct load load;
    char path[64], listen[128];
    (void)state;
    snprintf(path, sizeof path, "/tmp/tensord-reconnect-%d.sock", (int)getpid());
    snprintf(listen, sizeof listen, "--listen=127.0.0.1:0,unix:%s", path);
    for (int round = 0; round < ROUNDS; round++) {
        begin(&load, "--drain_delay=0", listen, NULL, NULL);
        load.path = path;
        ask_from_now_on(&load);
        await_some(&load);
        server_terminate(&load.server);
        check(&load);
    }
}

/* The kernel has taken bytes of a handshake, the process has read them or not. */
static void neither_do_tls_handshakes(void **state)
{
    static struct load load;
    struct pki pki;
    char authority[PKI_PATH_MAX], path[PKI_PATH_MAX], cert[PKI_PATH_MAX + 16],
        key[PKI_PATH_MAX + 16];
    (void)state;
    assert_true(pki_open(&pki));
    struct identity *signer = pki_issue(&pki, "authority", PKI_AUTHORITY, NULL, -DAY, DAY);
    struct identity *own = pki_issue(&pki, "server", PKI_SERVER, signer, -DAY, DAY);
    assert_true(signer && own);
    const struct call_tls tls = {.authority = pki_path(&pki, "authority.pem", authority)};
    snprintf(cert, sizeof cert, "--tls_cert=%s", pki_path(&pki, "server.pem", path));
    snprintf(key, sizeof key, "--tls_key=%s", pki_path(&pki, "server.key", path));
    for (int round = 0; round < ROUNDS; round++) {
        begin(&load, "--drain_delay=0", "--listen=tls:127.0.0.1:0", cert, key);
        load.tls = &tls;
        load.port = server_port(&load.server, "tls:127.0.0.1:");
        ask_from_now_on(&load);
        await_some(&load);
        server_terminate(&load.server);
        check(&load);
    }
    identity_free(own);
    identity_free(signer);
    pki_close(&pki);
}

static int listen_somewhere(int *port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&name, size) == 0 && listen(fd, 1024) == 0 &&
                getsockname(fd, (struct sockaddr *)&name, &size) == 0);
    *port = ntohs(name.sin_port);
    return fd;
}

/* A socket of systemd's: whoever is not served by one process is served by the next. */
static void an_inherited_socket_passes_them_to_the_next(void **state)
{
    static const char *const settings[] = {"--drain_delay=0", "--http_threads=1", NULL};
    static struct load load;
    int fd = listen_somewhere(&load.port);
    (void)state;
    assert_true(server_start_on(&load.server, fd, settings));
    ask_from_now_on(&load);
    for (int round = 0; round < ROUNDS; round++) {
        await_some(&load);
        assert_int_equal(server_stop(&load.server), 0);
        assert_true(server_start_on(&load.server, fd, settings));
    }
    await_some(&load);
    load.is_over = true;
    pause_ms(100); /* the clients' last requests; then nobody connects any more */
    server_terminate(&load.server);
    check(&load);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_drains_lose_nothing),
        cmocka_unit_test(neither_does_a_unix_socket),
        cmocka_unit_test(neither_do_tls_handshakes),
        cmocka_unit_test(an_inherited_socket_passes_them_to_the_next),
    };
    return cmocka_run_group_tests_name("reconnect", tests, NULL, NULL);
}
