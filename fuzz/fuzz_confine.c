/* Takes three lines: the URL of a document, a place that it may refer to, and a reference. Any object that the document may read
 * must be at its own host or below that place, however the reference is spelled. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/confine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 4096 };

#define require(holds) check((holds), #holds)

static void check(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

/* Returns true if a canonical text is a prefix, or is below it. */
static bool is_below(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);
    while (n > 0 && prefix[n - 1] == '/') n--;
    return strncmp(text, prefix, n) == 0 && (!text[n] || text[n] == '/');
}

static bool has_dots(const char *text)
{
    for (const char *at = strchr(text, '/'); at; at = strchr(at + 1, '/')) {
        const size_t n = strcspn(at + 1, "/");
        if ((n == 1 && at[1] == '.') || (n == 2 && at[1] == '.' && at[2] == '.')) return true;
    }
    return false;
}

static void try_reference(cb_zone *zone, const char *document, const char *prefix,
                          const char *parent, const char *key)
{
    cb_confine c;
    cb_place at, again;
    cb_buf allowed;
    bool all;
    cb_buf_init(&allowed, &cb_system_allocator);
    if (cb_confine_put_prefixes(prefix, &allowed, NULL) == CUBED_OK &&
        cb_confine_init(zone, document, allowed.data, &c, NULL) == CUBED_OK &&
        cb_place_parse_object(zone, parent, key, &at, NULL) == CUBED_OK &&
        cb_confine_allows(&c, &at, &all) && c.own) {
        require(!has_dots(at.text));
        require(at.nids == 0 ? is_below(at.text, c.own) || c.nallowed > 0 : c.nallowed > 0);
        require(is_below(at.text, c.own) || is_below(at.text, allowed.data));
        /* The opened store must be the place that was compared. */
        require(cb_place_parse_object(zone, at.store, key, &again, NULL) == CUBED_OK);
        require(strcmp(again.store, at.store) == 0 && strcmp(again.text, at.text) == 0);
    }
    cb_buf_free(&allowed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[MOST + 1];
    cb_zone *zone;
    if (size > MOST) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    char *prefix = strchr(text, '\n'), *parent = prefix ? strchr(prefix + 1, '\n') : NULL;
    char *slash = parent ? strrchr(parent + 1, '/') : NULL;
    if (!slash) return 0;
    *prefix++ = *parent++ = *slash++ = 0;
    if (cb_zone_new(&cb_system_allocator, &zone, NULL) != CUBED_OK) return 0;
    try_reference(zone, text, prefix, parent, slash);
    cb_zone_free(zone);
    return 0;
}
