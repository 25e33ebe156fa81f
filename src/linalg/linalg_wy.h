/* Blocks of reflectors, whose product is 1 - V T V^H (Schreiber and Van Loan, "A storage-efficient WY representation",
 * SISSC 1989). */
#ifndef CB_LINALG_WY_H
#define CB_LINALG_WY_H

#include "linalg/linalg_shared.h"

/* Reflectors per block. */
#define CB_WY_BLOCK 32

/* A block of b reflectors of m numbers each. v is V (m x b), and t is T (b x b). v_h and t_h are their adjoints V^H and T^H. x
 * and y are intermediate products (b x n). */
typedef struct cb_wy {
    int64_t m, b;
    void *v, *v_h, *t, *t_h, *x, *y;
    const cb_products *products;
} cb_wy;

/* Allocates the matrices for up to `at_once` reflectors of m numbers that are applied to n columns of elements of `size`
 * bytes. */
static inline cb_wy cb_wy_make(int64_t m, int64_t n, int64_t at_once, size_t size,
                               const cb_products *products, cb_room *room)
{
    cb_wy w = {.products = products};
    w.v = cb_room_take(room, m * at_once, size);
    w.v_h = cb_room_take(room, m * at_once, size);
    w.t = cb_room_take(room, at_once * at_once, size);
    w.t_h = cb_room_take(room, at_once * at_once, size);
    w.x = cb_room_take(room, cb_max_i64(n, at_once) * at_once, size);
    w.y = cb_room_take(room, n * at_once, size);
    return w;
}

#endif
