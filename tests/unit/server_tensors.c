/* tensors: names, what a store may hold, leases, keys, conditions and positions. */
#include "server/base/units.h"
#include "server/tensors/store.h"
#include "server/tensors/store_keys.h"
#include "server/tensors/store_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 3, MOST_KEYS = 2 };

static const struct line_bounds wide = {1000, SIZE_MAX};
static const struct position no_position;
static struct blocks blocks;
static struct clients clients;
static struct store store;
static enum turn_state entered;

static int set_up(void **state)
{
    (void)state;
    blocks_init(&blocks, 0);
    clients_init(&clients, 0);
    store_init(&store, &(struct store_setup){.blocks = &blocks,
                                             .clients = &clients,
                                             .memory = 8 * MIB,
                                             .most = MOST,
                                             .most_keys = MOST_KEYS});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    store_release(&store);
    clients_release(&clients);
    blocks_release(&blocks);
    return 0;
}

/* The turn holds these names alone. */
static void take(struct turn *turn, const char *first, const char *second, uint64_t now)
{
    struct error error;
    *turn = (struct turn){.bytes = 0};
    assert_int_equal(store_join(&store, turn, first, true), 0);
    if (second)
        assert_int_equal(store_join(&store, turn, second, true), 1);
    assert_int_equal(store_enter(&store, turn, &wide, false, now, &entered, &error), ERROR_NONE);
    assert_int_equal(turn->state, TURN_HELD);
}

static enum error_code put_for(const char *name, int64_t bytes, const struct holder *holder,
                               uint64_t now)
{
    struct turn turn;
    struct error error;
    error_clear(&error);
    take(&turn, name, NULL, now);
    struct tensor tensor = {.dtype = DTYPE_UINT8, .rank = 1, .shape = {bytes}};
    struct resident *r = store_make(&store, &turn, 0, &tensor, holder, &error);
    if (r) {
        r->block = store_block(&store, (size_t)bytes, &error);
        if (r->block) {
            r->tensor.data = r->block->bytes;
            store_install(&store, &turn, 0, r, now);
        } else {
            store_discard(&store, r);
        }
    }
    store_leave(&store, &turn, now);
    return error.code;
}

static enum error_code put(const char *name, int64_t bytes, uint64_t now)
{
    return put_for(name, bytes, &(struct holder){.client = NULL}, now);
}

static bool is_there(const char *name, uint64_t now)
{
    struct resident_view view;
    return store_look(&store, name, now, &view);
}

static void names_are_checked(void **state)
{
    static const char *const good[] = {"a", "Z", "0", "emb.next", "a-b_c.", "_", "-"};
    static const char *const bad[] = {"", ".", ".a", "a/b", "a b", "a%", "a+b", "\xc3\xa9", "a\n"};
    char longest[TENSOR_NAME_MAX + 2];
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(tensor_name_is_legal(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tensor_name_is_legal(bad[i], strlen(bad[i])));
    memset(longest, 'a', sizeof longest);
    assert_true(tensor_name_is_legal(longest, TENSOR_NAME_MAX));
    assert_false(tensor_name_is_legal(longest, TENSOR_NAME_MAX + 1));
}

static void a_name_has_a_resident_until_it_is_dropped(void **state)
{
    (void)state;
    assert_false(is_there("a", 0));
    assert_int_equal(put("a", 100, 0), ERROR_NONE);
    assert_true(is_there("a", 0));
    assert_int_equal(store_dtype(&store, "a", 0), DTYPE_UINT8);
    struct turn turn;
    take(&turn, "a", NULL, 0);
    store_drop(&store, &turn, 0);
    store_leave(&store, &turn, 0);
    assert_false(is_there("a", 0));
    assert_null(store.names);
    assert_int_equal(budget_used(&store.budget), 0);
}

/* A tensor that is stored again after it was dropped never has an old tag. */
static void versions_count_writes_and_generations_differ(void **state)
{
    struct resident_view first, second;
    (void)state;
    assert_int_equal(put("a", 100, 0), ERROR_NONE);
    assert_true(store_look(&store, "a", 0, &first));
    assert_int_equal(first.version, 1);
    struct turn turn;
    take(&turn, "a", NULL, 0);
    store_wrote(&store, &turn, 0, &no_position, 0);
    store_leave(&store, &turn, 0);
    assert_true(store_look(&store, "a", 0, &second));
    assert_int_equal(second.version, 2);
    assert_int_equal(second.generation, first.generation);
    assert_string_not_equal(second.etag, first.etag);
    assert_int_equal(put("a", 100, 0), ERROR_NONE);
    assert_true(store_look(&store, "a", 0, &second));
    assert_int_equal(second.version, 1);
    assert_true(second.generation != first.generation);
}

static void memory_is_bounded_and_a_replacement_needs_room_for_both(void **state)
{
    (void)state;
    assert_int_equal(put("a", 5 * MIB, 0), ERROR_NONE);
    assert_int_equal(put("b", 5 * MIB, 0), ERROR_TENSOR_MEMORY_FULL);
    assert_int_equal(put("a", 5 * MIB, 0), ERROR_TENSOR_MEMORY_FULL);
    assert_true(is_there("a", 0));
    assert_int_equal(put("a", MIB, 0), ERROR_NONE);
    assert_int_equal(put("b", 5 * MIB, 0), ERROR_NONE);
    assert_int_equal(store_load(&store).counts.refused, 2);
    assert_int_equal(store_load(&store).bytes, 6 * MIB);
}

static void their_number_is_bounded_and_a_replacement_is_none_more(void **state)
{
    (void)state;
    assert_int_equal(put("a", 1, 0), ERROR_NONE);
    assert_int_equal(put("b", 1, 0), ERROR_NONE);
    assert_int_equal(put("c", 1, 0), ERROR_NONE);
    assert_int_equal(put("d", 1, 0), ERROR_TENSOR_MEMORY_FULL);
    assert_int_equal(put("c", 1, 0), ERROR_NONE);
    assert_int_equal(store_load(&store).count, 3);
}

static void a_token_is_charged_for_what_it_made(void **state)
{
    (void)state;
    struct client *client = clients_enter(&clients, CLIENT_TOKEN, "alice");
    struct holder holder = {client, 1000, 2};
    assert_int_equal(put_for("a", 600, &holder, 0), ERROR_NONE);
    assert_int_equal(put_for("b", 600, &holder, 0), ERROR_TENSOR_MEMORY_FULL);
    assert_int_equal(put_for("b", 100, &holder, 0), ERROR_NONE);
    assert_int_equal(put_for("c", 100, &holder, 0), ERROR_TENSOR_MEMORY_FULL);
    assert_int_equal(put_for("b", 200, &holder, 0), ERROR_NONE);
    assert_int_equal(client->tensor_bytes, 800);
    assert_int_equal(client->tensor_count, 2);
    assert_int_equal(put("a", 600, 0), ERROR_NONE);
    assert_int_equal(client->tensor_bytes, 200);
    assert_int_equal(client->tensor_count, 1);
    clients_leave(&clients, client);
}

static void a_lease_ends_when_it_is_not_used(void **state)
{
    (void)state;
    assert_int_equal(put("a", 1, 0), ERROR_NONE);
    struct turn turn;
    take(&turn, "a", NULL, 0);
    store_lease(&store, &turn, 0, 10 * SEC, &no_position, 0);
    store_leave(&store, &turn, 0);
    assert_true(is_there("a", 10 * SEC - 1));
    take(&turn, "a", NULL, 9 * SEC);
    turn.is_use = true;
    store_leave(&store, &turn, 9 * SEC);
    assert_true(is_there("a", 19 * SEC - 1));
    assert_false(is_there("a", 19 * SEC));
    assert_int_equal(store_load(&store).counts.expired, 1);
}

/* A turn in line keeps the tensor: what was there when a request came is there when its turn
 * comes. */
static void a_lease_does_not_end_while_somebody_is_in_line(void **state)
{
    (void)state;
    assert_int_equal(put("a", 1, 0), ERROR_NONE);
    struct turn turn;
    take(&turn, "a", NULL, 0);
    store_lease(&store, &turn, 0, SEC, &no_position, 0);
    store_tick(&store, 5 * SEC);
    assert_non_null(turn_resident(&turn, 0));
    store_leave(&store, &turn, 5 * SEC);
    store_tick(&store, 5 * SEC);
    assert_null(store.names);
}

static void a_move_takes_the_name_in_one_step(void **state)
{
    struct resident_view next, emb;
    (void)state;
    assert_int_equal(put("emb", 10, 0), ERROR_NONE);
    assert_int_equal(put("next", 20, 0), ERROR_NONE);
    assert_true(store_look(&store, "next", 0, &next));
    struct turn turn;
    take(&turn, "emb", "next", 0);
    assert_true(store_prepare_move(&store, &turn, 1, 0, &(struct position){.high = 0}));
    store_move(&store, &turn, 1, 0, &(struct position){.high = 0}, 0);
    store_leave(&store, &turn, 0);
    assert_false(is_there("next", 0));
    assert_true(store_look(&store, "emb", 0, &emb));
    assert_string_equal(emb.etag, next.etag);
    assert_int_equal(emb.bytes, 20);
    assert_int_equal(store_load(&store).count, 1);
}

static bool collect(const struct resident_view *view, void *context)
{
    strcat(strcat(context, view->name), " ");
    return strlen(context) < 4;
}

static void the_list_is_in_the_order_of_names(void **state)
{
    char names[64] = "";
    (void)state;
    put("c", 1, 0);
    put("a", 1, 0);
    put("b", 1, 0);
    store_list(&store, "", 0, collect, names);
    assert_string_equal(names, "a b ");
    strcpy(names, "");
    store_list(&store, "a", 0, collect, names);
    assert_string_equal(names, "b c ");
}

/* ----------------------------------------------------------------------------------------- keys */

static enum claim claim(struct turn *turn, const char *id, const char *print, struct key **key,
                        uint64_t now)
{
    uint8_t hash[KEY_ID_BYTES] = {0}, fingerprint[DIGEST_BYTES] = {0};
    strcpy((char *)hash, id);
    strcpy((char *)fingerprint, print);
    return store_claim(&store, turn, 0, hash, fingerprint, key, now);
}

static void keep(struct turn *turn, struct key *key, uint64_t now)
{
    strcpy(key->answer, "done");
    key->answer_size = 4;
    key->etag = key->answer + 5;
    strcpy(key->etag, "tag");
    store_keep(&store, turn, 0, key, now);
}

static void a_key_is_claimed_kept_and_forgotten(void **state)
{
    struct key *key, *other;
    (void)state;
    struct turn turn;
    take(&turn, "a", NULL, 0);
    assert_int_equal(claim(&turn, "k", "print", &key, 0), CLAIM_NEW);
    assert_int_equal(claim(&turn, "k", "print", &other, 0), CLAIM_RUNNING);
    assert_int_equal(claim(&turn, "k", "other", &other, 0), CLAIM_REUSED);
    store_forget(&store, &turn, 0, key);
    assert_int_equal(claim(&turn, "k", "other", &key, 0), CLAIM_NEW);
    keep(&turn, key, SEC);
    assert_int_equal(claim(&turn, "k", "other", &other, 2 * SEC), CLAIM_KEPT);
    assert_string_equal(other->answer, "done");
    assert_string_equal(other->etag, "tag");
    assert_int_equal(claim(&turn, "k", "print", &other, 2 * SEC), CLAIM_REUSED);
    assert_int_equal(claim(&turn, "k", "print", &key, SEC + KEY_LIFE_NS), CLAIM_NEW);
    store_forget(&store, &turn, 0, key);
    store_leave(&store, &turn, 0);
    assert_null(store.names);
}

static void keys_outlive_the_resident_and_no_young_one_is_pushed_out(void **state)
{
    struct key *key;
    (void)state;
    struct turn turn;
    take(&turn, "a", NULL, 0);
    assert_int_equal(claim(&turn, "1", "", &key, 0), CLAIM_NEW);
    keep(&turn, key, 0);
    assert_int_equal(claim(&turn, "2", "", &key, 0), CLAIM_NEW);
    keep(&turn, key, SEC);
    assert_int_equal(claim(&turn, "3", "", &key, SEC), CLAIM_FULL);
    store_leave(&store, &turn, 0);
    store_tick(&store, KEY_LIFE_NS);
    take(&turn, "a", NULL, KEY_LIFE_NS);
    assert_int_equal(claim(&turn, "2", "", &key, KEY_LIFE_NS), CLAIM_KEPT);
    assert_int_equal(claim(&turn, "3", "", &key, KEY_LIFE_NS), CLAIM_NEW);
    store_forget(&store, &turn, 0, key);
    store_leave(&store, &turn, 0);
    store_tick(&store, SEC + KEY_LIFE_NS);
    assert_null(store.names);
    assert_int_equal(budget_used(&store.budget), 0);
}

/* ----------------------------------------------------------------------------------- conditions */

static void conditions_are_entity_tags_or_any(void **state)
{
    static const struct {
        const char *match, *none_match, *etag;
        bool holds;
    } rows[] = {
        {NULL, NULL, NULL, true},
        {"\"1\"", NULL, "\"1\"", true},
        {"\"1\"", NULL, "\"2\"", false},
        {"\"1\"", NULL, NULL, false},
        {"*", NULL, "\"1\"", true},
        {"*", NULL, NULL, false},
        {"\"2\" , \"1\"", NULL, "\"1\"", true},
        {"W/\"1\"", NULL, "\"1\"", false},
        {NULL, "\"1\"", "\"1\"", false},
        {NULL, "W/\"1\"", "\"1\"", false},
        {NULL, "\"1\"", "\"2\"", true},
        {NULL, "*", NULL, true},
        {NULL, "*", "\"1\"", false},
        {"\"1\"", "\"1\"", "\"1\"", false},
    };
    static const char *const wrong[] = {"",        "1",         "\"1", "\"1\" \"2\"", "\"1\",,",
                                        "\"a b\"", "* , \"1\"", "**",  "w/\"1\"",     "W/1"};
    struct error error;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct conditions c = {rows[i].match, rows[i].none_match};
        assert_int_equal(conditions_check(&c, &error), ERROR_NONE);
        assert_int_equal(conditions_hold(&c, rows[i].etag), rows[i].holds);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct conditions c = {wrong[i], NULL}, d = {NULL, wrong[i]};
        if (conditions_check(&c, &error) != ERROR_INVALID_HEADER)
            fail_msg("%s", wrong[i]);
        assert_int_equal(conditions_check(&d, &error), ERROR_INVALID_HEADER);
        assert_false(conditions_hold(&c, "\"x\""));
    }
}

static void positions_only_grow(void **state)
{
    static const char *const wrong[] = {"", "-", "1-", "-1", "1-2-3", "a", "18446744073709551616"};
    struct positions p = {0};
    struct position at;
    struct error error;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(position_parse(&at, "s", wrong[i], &error), ERROR_INVALID_HEADER);
    assert_int_equal(position_parse(&at, "s", NULL, &error), ERROR_INVALID_HEADER);
    assert_int_equal(position_parse(&at, NULL, "1", &error), ERROR_INVALID_HEADER);
    assert_int_equal(position_parse(&at, "s s", "1", &error), ERROR_INVALID_HEADER);
    assert_int_equal(position_parse(&at, NULL, NULL, &error), ERROR_NONE);
    assert_string_equal(at.source, "");
    assert_int_equal(position_parse(&at, "s", "17-3", &error), ERROR_NONE);
    assert_false(positions_passed(&p, &at));
    assert_true(positions_reserve(&p, &at));
    positions_set(&p, &at);
    assert_true(positions_passed(&p, &at));
    assert_int_equal(position_parse(&at, "s", "17", &error), ERROR_NONE);
    assert_true(positions_passed(&p, &at));
    assert_int_equal(position_parse(&at, "s", "17-4", &error), ERROR_NONE);
    assert_false(positions_passed(&p, &at));
    for (int i = 1; i < POSITIONS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        assert_int_equal(position_parse(&at, name, "1", &error), ERROR_NONE);
        assert_true(positions_reserve(&p, &at));
        positions_set(&p, &at);
    }
    assert_int_equal(position_parse(&at, "more", "1", &error), ERROR_NONE);
    assert_false(positions_reserve(&p, &at));
    positions_release(&p);
}

static void advance(const char *token, const char *source, uint64_t high)
{
    struct position position = {.high = high};
    strcpy(position.source, source);
    store_advance(&store, token, &position);
}

static void sources_are_their_tokens_and_the_oldest_makes_room(void **state)
{
    struct position list[SOURCES_MAX];
    char name[16];
    (void)state;
    advance("", "log", 7);
    advance("alice", "log", 9);
    advance("", "log", 6);
    assert_int_equal(store_sources(&store, "", list), 1);
    assert_int_equal(list[0].high, 7);
    assert_int_equal(store_sources(&store, "alice", list), 1);
    assert_int_equal(list[0].high, 9);
    assert_int_equal(store_sources(&store, "bob", list), 0);
    for (int i = 0; i < SOURCES_MAX - 1; i++) {
        snprintf(name, sizeof name, "s%d", i);
        advance("bob", name, 1);
        advance("", "log", (uint64_t)i);
    }
    assert_int_equal(store_sources(&store, "alice", list), 0);
    assert_int_equal(store_sources(&store, "bob", list), SOURCES_MAX - 1);
    assert_int_equal(store_sources(&store, "", list), 1);
    assert_string_equal(list[0].source, "log");
    assert_int_equal(list[0].high, SOURCES_MAX - 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_are_checked),
        TEST(a_name_has_a_resident_until_it_is_dropped),
        TEST(versions_count_writes_and_generations_differ),
        TEST(memory_is_bounded_and_a_replacement_needs_room_for_both),
        TEST(their_number_is_bounded_and_a_replacement_is_none_more),
        TEST(a_token_is_charged_for_what_it_made),
        TEST(a_lease_ends_when_it_is_not_used),
        TEST(a_lease_does_not_end_while_somebody_is_in_line),
        TEST(a_move_takes_the_name_in_one_step),
        TEST(the_list_is_in_the_order_of_names),
        TEST(a_key_is_claimed_kept_and_forgotten),
        TEST(keys_outlive_the_resident_and_no_young_one_is_pushed_out),
        TEST(conditions_are_entity_tags_or_any),
        TEST(positions_only_grow),
        TEST(sources_are_their_tokens_and_the_oldest_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
