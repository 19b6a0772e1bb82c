/* greet: the request to try goes to an address that exists. */
#include "server/life/greet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void the_request_goes_where_the_server_is(void **state)
{
    static const struct {
        struct listener listener;
        const char *base_path, *tokens, *wanted;
    } rows[] = {
        {{.address = "127.0.0.1:41253"}, "", "", "try:  curl http://127.0.0.1:41253/v2/"},
        {{.address = "0.0.0.0:8080"}, "", "", "try:  curl http://127.0.0.1:8080/v2/"},
        {{.address = "[::]:8080"}, "/x", "", "try:  curl http://[::1]:8080/x/v2/"},
        {{.address = "tls:127.0.0.1:8443", .is_tls = true},
         "",
         "tokens",
         "try:  curl -k -H 'Authorization: Bearer TOKEN' https://127.0.0.1:8443/v2/"},
        {{.address = "unix:/run/t.sock", .is_unix = true},
         "",
         "",
         "try:  curl --unix-socket /run/t.sock http://localhost/v2/"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static struct config config;
        char text[1024];
        config_init(&config);
        strcpy(config.base_path, rows[i].base_path);
        strcpy(config.tokens, rows[i].tokens);
        greet_print(text, sizeof text, &config, &rows[i].listener);
        text[strlen(rows[i].wanted)] = '\0';
        assert_string_equal(text, rows[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_request_goes_where_the_server_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
