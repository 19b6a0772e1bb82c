/* network, forwarded: addresses, networks, and the client behind proxies. */
#include "server/net/forwarded.h"
#include "server/net/network.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct networks networks;
static struct error error;

static struct address parse(const char *text)
{
    struct address address = {.is_known = false};
    assert_true(address_parse(&address, text, (int)strlen(text)));
    return address;
}

static void addresses_come_back_as_they_went(void **state)
{
    static const struct {
        const char *given, *printed, *client;
    } rows[] = {
        {"192.0.2.1", "192.0.2.1", "192.0.2.1"},
        {"192.0.2.1:8080", "192.0.2.1", "192.0.2.1"},
        {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
        {"[2001:db8::7]:443", "2001:db8::7", "2001:db8::"},
        {"[::1]", "::1", "::"},
        {"::ffff:192.0.2.9", "192.0.2.9", "192.0.2.9"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[ADDRESS_TEXT_MAX];
        struct address address = parse(rows[i].given);
        address_print(&address, text);
        assert_string_equal(text, rows[i].printed);
        address_print_client(&address, text);
        assert_string_equal(text, rows[i].client);
    }
}

static void what_is_no_address_is_refused(void **state)
{
    static const char *const texts[] = {"",          "unknown", "_hidden",   "1.2.3",
                                        "1.2.3.4.5", "[::1",    ":",         "1.2.3.999",
                                        "[]",        ":80",     "1.2.3.4\"", "2001:db8:::1"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct address address;
        if (address_parse(&address, texts[i], (int)strlen(texts[i])))
            fail_msg("'%s' was taken", texts[i]);
    }
}

static void sockets_have_addresses(void **state)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr local = {.sa_family = AF_UNIX};
    char text[ADDRESS_TEXT_MAX];
    (void)state;
    struct address address = address_of((struct sockaddr *)&v4);
    assert_true(address_is_loopback(&address));
    address = address_of((struct sockaddr *)&v6);
    assert_true(address_is_loopback(&address));
    v4.sin_addr.s_addr = htonl(0xc0000201);
    address = address_of((struct sockaddr *)&v4);
    assert_false(address_is_loopback(&address));
    address = address_of(&local);
    address_print(&address, text);
    assert_string_equal(text, "unix");
}

static void networks_hold_what_is_inside(void **state)
{
    static const struct {
        const char *networks, *address;
        bool held;
    } rows[] = {
        {"10.0.0.0/8", "10.255.0.1", true},
        {"10.0.0.0/8", "11.0.0.1", false},
        {"10.9.8.7/8", "10.0.0.1", true},
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1", "192.0.2.2", false},
        {"192.0.2.128/25", "192.0.2.127", false},
        {"192.0.2.128/25", "192.0.2.200", true},
        {"0.0.0.0/0", "203.0.113.5", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"2001:db8::/32", "2001:db8:ffff::1", true},
        {"2001:db8::/33", "2001:db8:ffff::1", false},
        {"::1, 10.0.0.0/8", "10.1.1.1", true},
        {"", "10.1.1.1", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct address address = parse(rows[i].address);
        assert_int_equal(networks_parse(&networks, rows[i].networks, &error), ERROR_NONE);
        if (networks_hold(&networks, &address) != rows[i].held)
            fail_msg("%s in %s", rows[i].address, rows[i].networks);
    }
}

static void unix_sockets_are_a_network_of_their_own(void **state)
{
    const struct address local = {.is_known = false};
    (void)state;
    assert_int_equal(networks_parse(&networks, "0.0.0.0/0,::/0", &error), ERROR_NONE);
    assert_false(networks_hold(&networks, &local));
    assert_int_equal(networks_parse(&networks, "unix", &error), ERROR_NONE);
    assert_true(networks_hold(&networks, &local));
}

static void what_is_no_network_is_named(void **state)
{
    static const char *const texts[] = {"10.0.0.0/33", "::/129",      "10.0.0.0/",
                                        "10.0.0.0/-1", "10.0.0.0/8x", "/8",
                                        "example.org", "10.0.0.0/+8", "[::1]/128"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(networks_parse(&networks, texts[i], &error), ERROR_INVALID_PARAMETER);
        assert_non_null(strstr(error.message, texts[i]));
    }
}

static void the_client_is_the_last_that_no_trusted_proxy_wrote(void **state)
{
    static const struct {
        const char *lines[2], *client;
    } rows[] = {
        {{"203.0.113.9"}, "203.0.113.9"},
        {{"1.2.3.4, 203.0.113.9"}, "203.0.113.9"}, /* the first is the client's invention */
        {{"203.0.113.9, 10.0.0.7"}, "203.0.113.9"},
        {{"1.2.3.4", "203.0.113.9"}, "203.0.113.9"},
        {{"203.0.113.9", "10.0.0.7,10.0.0.8"}, "203.0.113.9"},
        {{"203.0.113.9:4711"}, "203.0.113.9"},
        {{"[2001:db8::5]:99"}, "2001:db8::5"},
        {{"10.0.0.7"}, "10.0.0.1"},
        {{""}, "10.0.0.1"},
        {{" , ,"}, "10.0.0.1"},
        {{"1.2.3.4, unknown"}, "10.0.0.1"},
        {{"junk, 203.0.113.9"}, "203.0.113.9"},
    };
    struct address peer = parse("10.0.0.1");
    (void)state;
    assert_int_equal(networks_parse(&networks, "10.0.0.0/8", &error), ERROR_NONE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct forwarded forwarded;
        char text[ADDRESS_TEXT_MAX];
        forwarded_init(&forwarded, &networks, &peer);
        for (int j = 0; j < 2 && rows[i].lines[j]; j++)
            forwarded_add(&forwarded, rows[i].lines[j]);
        address_print(&forwarded.client, text);
        assert_string_equal(text, rows[i].client);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_come_back_as_they_went),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(sockets_have_addresses),
        cmocka_unit_test(networks_hold_what_is_inside),
        cmocka_unit_test(unix_sockets_are_a_network_of_their_own),
        cmocka_unit_test(what_is_no_network_is_named),
        cmocka_unit_test(the_client_is_the_last_that_no_trusted_proxy_wrote),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
