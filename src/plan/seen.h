/* The nodes that a walk from a node to its inputs has visited, each with the index transform (cb_map) through which it was read
 * and, optionally, a box. A node may be visited with several transforms. */
#ifndef CB_PLAN_SEEN_H
#define CB_PLAN_SEEN_H

#include "plan/geom.h"

/* A visited node. */
typedef struct cb_seen_item {
    uint64_t hash;
    const cb_map *map;      /* transform through which the node is read, from cb_map_own */
    const int64_t *lo, *hi; /* the box; NULL: no box */
    int node;
    int value; /* value of the item, for the caller */
} cb_seen_item;

/* A hash table of visited nodes. */
typedef struct cb_seen {
    cb_zone *zone; /* set by the caller; owns everything below */
    cb_seen_item *item;
    int n, cap;
    int *slot; /* open addressing: 1 + number of an item, 0: empty; grows by doubling */
    int nslots;
} cb_seen;

/* Returns the value of a node, or NULL if it was not visited. `box` must be NULL in all calls for a cb_seen, or in no call. */
const int *cb_seen_find(const cb_seen *s, int node, const cb_map *map, const cb_box *box);
/* Adds a node that was not visited. */
CUBED_MUST_CHECK cubed_status cb_seen_add(cb_seen *s, int node, const cb_map *map,
                                          const cb_box *box, int value, cubed_error *err);

#endif
