#include "kernels/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { EDITS_MAX = 2, EDITS_MAX_SHORT = 1, SHORT_BELOW = 5 };

struct piece {
    const char *text;
    size_t size;
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same(char a, char b)
{
    return lower(a) == lower(b);
}

static struct piece rest(struct piece p, size_t skipped)
{
    return (struct piece){p.text + skipped, p.size - skipped};
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* The fewest edits between two words, at most `most`; more are `most` + 1. Equal letters in front
 * need none, and at the first difference each kind of edit is tried: with `most` at 2 these are 16
 * ways at the most. */
static int edits_between(struct piece a, struct piece b, int most)
{
    while (a.size > 0 && b.size > 0 && same(*a.text, *b.text)) {
        a = rest(a, 1);
        b = rest(b, 1);
    }
    if (a.size == 0 && b.size == 0)
        return 0;
    if (most == 0)
        return 1;
    int found = most;
    if (a.size > 0)
        found = least(found, edits_between(rest(a, 1), b, most - 1));
    if (b.size > 0)
        found = least(found, edits_between(a, rest(b, 1), most - 1));
    if (a.size > 0 && b.size > 0)
        found = least(found, edits_between(rest(a, 1), rest(b, 1), most - 1));
    if (a.size > 1 && b.size > 1 && same(a.text[0], b.text[1]) && same(a.text[1], b.text[0]))
        found = least(found, edits_between(rest(a, 2), rest(b, 2), most - 1));
    return 1 + found;
}

struct nearest nearest_to(const char *word, size_t size)
{
    return (struct nearest){word, size, NULL, EDITS_MAX + 1};
}

void nearest_offer(struct nearest *n, const char *known)
{
    struct piece word = {n->word, n->size}, offered = {known, strlen(known)};
    int most = least(offered.size < SHORT_BELOW ? EDITS_MAX_SHORT : EDITS_MAX, n->edits - 1);
    int edits = most >= 0 ? edits_between(word, offered, most) : most + 1;
    if (edits > most)
        return;
    n->found = known;
    n->edits = edits;
}
