/* Block functions of this folder, one row each in block.c. Their `ctx` is the context's cb_kernels. */
#ifndef CB_BLOCK_FUNCTIONS_H
#define CB_BLOCK_FUNCTIONS_H

#include "base/checked.h"
#include "cubed/sys/block.h"

/* Returns the product of the extents of the axes from `first` to end - 1, or -1 if it overflows. */
static inline int64_t cb_block_extents(const cubed_block *x, int first, int end)
{
    int64_t n = 0;
    return cb_count(end - first, x->shape + first, &n) ? -1 : n;
}

extern const cubed_block_fn cb_block_sort;
extern const cubed_block_fn cb_block_argsort;
extern const cubed_block_fn cb_block_sort_run;
extern const cubed_block_fn cb_block_merge_runs;
extern const cubed_block_fn cb_block_merge_bounds;
extern const cubed_block_fn cb_block_quantile;
extern const cubed_block_fn cb_block_group_quantile;
extern const cubed_block_fn cb_block_count_keys;
extern const cubed_block_fn cb_block_refine_keys;
extern const cubed_block_fn cb_block_find_keys;
extern const cubed_block_fn cb_block_matmul;
extern const cubed_block_fn cb_block_subtract_product;
extern const cubed_block_fn cb_block_take;
extern const cubed_block_fn cb_block_take_along_axis;
extern const cubed_block_fn cb_block_searchsorted;
extern const cubed_block_fn cb_block_isin;
extern const cubed_block_fn cb_block_group;
extern const cubed_block_fn cb_block_rolling;
extern const cubed_block_fn cb_block_filter;
extern const cubed_block_fn cb_block_remap;
extern const cubed_block_fn cb_block_interpolate;
extern const cubed_block_fn cb_block_interpolate_at;
extern const cubed_block_fn cb_block_count_true;
extern const cubed_block_fn cb_block_require;
extern const cubed_block_fn cb_block_pick_fields;
extern const cubed_block_fn cb_block_replace;
extern const cubed_block_fn cb_block_join_characters;
extern const cubed_block_fn cb_block_compare_texts;
extern const cubed_block_fn cb_block_join_texts;
extern const cubed_block_fn cb_block_text;
extern const cubed_block_fn cb_block_extreme_text;
extern const cubed_block_fn cb_block_wrap;
extern const cubed_block_fn cb_block_diagonal;
extern const cubed_block_fn cb_block_histogram;
extern const cubed_block_fn cb_block_bincount;
extern const cubed_block_fn cb_block_fft;
extern const cubed_block_fn cb_block_rfft;
extern const cubed_block_fn cb_block_irfft;
extern const cubed_block_fn cb_block_cell_areas;
extern const cubed_block_fn cb_block_degrees;
extern const cubed_block_fn cb_block_fill_missing;

/* Writes the position in the array of element `at` of a block, such as "3, 0", to text. */
void cb_block_position(const cubed_block *x, int64_t at, char *text, size_t size);

#endif
