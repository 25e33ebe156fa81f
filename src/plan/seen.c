#include "plan/seen.h"

#include <string.h>

#include "base/error.h"

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

static uint64_t hash_of(int node, const cb_map *map, const cb_box *box)
{
    uint64_t h = mix((uint64_t)node, (uint64_t)map->ndim_in);
    for (int d = 0; d < map->ndim_out; d++) {
        h = mix(h, (uint64_t)map->dim[d].offset);
        h = mix(h, (uint64_t)map->dim[d].stride ^ (uint64_t)map->dim[d].axis << 32);
    }
    for (int d = 0; box && d < box->ndim; d++)
        h = mix(mix(h, (uint64_t)box->lo[d]), (uint64_t)box->hi[d]);
    return h;
}

static bool is_item(const cb_seen_item *i, uint64_t hash, int node, const cb_map *map,
                    const cb_box *box)
{
    if (i->hash != hash || i->node != node || !cb_map_equal(i->map, map)) return false;
    const size_t bytes = box ? (size_t)box->ndim * sizeof *box->lo : 0;
    return !box || (memcmp(i->lo, box->lo, bytes) == 0 && memcmp(i->hi, box->hi, bytes) == 0);
}

const int *cb_seen_find(const cb_seen *s, int node, const cb_map *map, const cb_box *box)
{
    if (s->n == 0) return NULL;
    const uint64_t hash = hash_of(node, map, box), mask = (uint64_t)s->nslots - 1;
    for (uint64_t i = hash & mask; s->slot[i]; i = (i + 1) & mask) {
        const cb_seen_item *item = &s->item[s->slot[i] - 1];
        if (is_item(item, hash, node, map, box)) return &item->value;
    }
    return NULL;
}

static void put_slot(const cb_seen *s, int number)
{
    const uint64_t mask = (uint64_t)s->nslots - 1;
    uint64_t i = s->item[number].hash & mask;
    while (s->slot[i]) i = (i + 1) & mask;
    s->slot[i] = number + 1;
}

/* Doubles the capacity of the list if it is full. */
static bool widen(cb_seen *s)
{
    if (s->n < s->cap) return true;
    const int cap = s->cap ? 2 * s->cap : 8;
    cb_seen_item *item = cb_zone_alloc(s->zone, (size_t)cap * sizeof *item);
    int *slot = cb_zone_alloc(s->zone, (size_t)cap * 2 * sizeof *slot);
    if (!item || !slot) return false;
    if (s->n) memcpy(item, s->item, (size_t)s->n * sizeof *item);
    s->item = item;
    s->cap = cap;
    s->slot = slot;
    s->nslots = 2 * cap;
    for (int i = 0; i < s->n; i++) put_slot(s, i);
    return true;
}

cubed_status cb_seen_add(cb_seen *s, int node, const cb_map *map, const cb_box *box, int value,
                         cubed_error *err)
{
    cb_seen_item item = {.hash = hash_of(node, map, box), .node = node, .value = value};
    const size_t bytes = box ? (size_t)box->ndim * sizeof *box->lo : 0;
    item.map = cb_map_own(s->zone, map);
    if (box) {
        item.lo = cb_zone_memdup(s->zone, box->lo, bytes);
        item.hi = cb_zone_memdup(s->zone, box->hi, bytes);
    }
    if (!item.map || (box && (!item.lo || !item.hi)) || !widen(s))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    s->item[s->n] = item;
    put_slot(s, s->n++);
    return CUBED_OK;
}
