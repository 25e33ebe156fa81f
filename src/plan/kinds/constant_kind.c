/* Computed constants. */
#include <string.h>

#include "plan/kinds/kind_rows.h"

static cubed_status check_full(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    (void)ir;
    bool text = cubed_dtype_kind(n->dtype) >= CUBED_KIND_TEXT;
    return text ? BAD("a constant of type %d", (int)n->dtype) : CUBED_OK;
}

static void put_full(cb_buf *b, const cb_node *n)
{
    cb_buf_put(b, n->value.bytes, sizeof n->value.bytes);
}

static void get_full(cb_reader *r, cb_node *n)
{
    const void *p = cb_get_bytes(r, sizeof n->value.bytes);
    if (p) memcpy(n->value.bytes, p, sizeof n->value.bytes);
}

const cb_kind cb_kind_full = {.name = "full",
                              .is = CB_KIND_CONSTANT,
                              .check = check_full,
                              .put = put_full,
                              .get = get_full,
                              .fix_axes = cb_fix_no_axes,
                              .find_chunks_from = cb_chunks_are_call};

static cubed_status check_index(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    (void)ir;
    return n->dtype == CUBED_INT64 ? CUBED_OK : BAD("an index type");
}

static void put_index(cb_buf *b, const cb_node *n) { cb_put_i(b, n->start); }

static void get_index(cb_reader *r, cb_node *n) { n->start = cb_get_i(r); }

/* The position of an element in C order depends on all extents except the first. */
static void fix_index(const cb_ir *ir, int node, cb_fixed_axes *fixed)
{
    (void)ir;
    fixed[node].exact |= ~UINT32_C(1);
}

const cb_kind cb_kind_index = {.name = "index",
                               .is = CB_KIND_CONSTANT,
                               .check = check_index,
                               .put = put_index,
                               .get = get_index,
                               .fix_axes = fix_index,
                               .find_chunks_from = cb_chunks_are_call};

static cubed_status check_chunk_position(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    (void)ir;
    return n->dtype == CUBED_INT64 && cb_chunk_positions_fit(n->grid) ? CUBED_OK
                                                                      : BAD("positions in chunks");
}

const cb_kind cb_kind_chunk_position = {.name = "chunk position",
                                        .check = check_chunk_position,
                                        .find_chunks_from = cb_chunks_are_data};
