#include "block/block.h"

#include <string.h>

#include "block/functions.h"
#include "linalg/linalg_functions.h"

/* clang-format off */
static const cubed_block_fn *const functions[] = {
    &cb_block_sort,
    &cb_block_argsort,
    &cb_block_sort_run,
    &cb_block_merge_runs,
    &cb_block_merge_bounds,
    &cb_block_quantile,
    &cb_block_group_quantile,
    &cb_block_count_keys,
    &cb_block_refine_keys,
    &cb_block_find_keys,
    &cb_block_matmul,
    &cb_block_subtract_product,
    &cb_block_take,
    &cb_block_take_along_axis,
    &cb_block_searchsorted,
    &cb_block_isin,
    &cb_block_count_true,
    &cb_block_require,
    &cb_block_pick_fields,
    &cb_block_replace,
    &cb_block_join_characters,
    &cb_block_compare_texts,
    &cb_block_join_texts,
    &cb_block_text,
    &cb_block_extreme_text,
    &cb_block_wrap,
    &cb_block_diagonal,
    &cb_block_histogram,
    &cb_block_bincount,
    &cb_block_group,
    &cb_block_rolling,
    &cb_block_filter,
    &cb_block_remap,
    &cb_block_interpolate,
    &cb_block_interpolate_at,
    &cb_block_fft,
    &cb_block_rfft,
    &cb_block_irfft,
    &cb_block_cell_areas,
    &cb_block_degrees,
    &cb_block_fill_missing,
    &cb_block_cholesky,
    &cb_block_lu,
    &cb_block_det,
    &cb_block_slogdet,
    &cb_block_inv,
    &cb_block_solve,
    &cb_block_qr,
    &cb_block_reflectors,
    &cb_block_lu_panel,
    &cb_block_lu_solve,
    &cb_block_cholesky_panel,
    &cb_block_qr_panel,
    &cb_block_qr_apply,
    &cb_block_svd,
    &cb_block_svdvals,
    &cb_block_band_svdvals,
    &cb_block_band_eigvalsh,
    &cb_block_eigh,
    &cb_block_eigvalsh,
    &cb_block_eig,
    &cb_block_eigvals,
    NULL,
};
/* clang-format on */

const cubed_block_fn *cb_block_fn(const char *name)
{
    for (int i = 0; functions[i]; i++) {
        if (strcmp(functions[i]->name, name) == 0) return functions[i];
    }
    return NULL;
}
