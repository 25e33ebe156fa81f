/* Packing of floating-point results to integers (CF, section 8.1): --pack int16. */
#ifndef CUBED_CLI_PACKED_H
#define CUBED_CLI_PACKED_H

#include "cubed/cubed.h"

struct cli_common;

typedef struct packed {
    bool is_on;
    cubed_dtype dtype;
    bool has_scale, has_offset;
    double scale, offset; /* as given */
    /* Ranges of the arrays that were packed, in their order: a pass found them. */
    int n;
    struct packed_range {
        double low, high;
    } * range;
} packed;

/* Parses TYPE[,scale=S][,offset=O]. Returns NULL, or an error message, which the caller frees. */
char *packed_parse(packed *p, const char *text);
/* Replaces the floating-point ones of n arrays by packed integers. The first call finds the ranges of their values, by a run of
 * its own; later ones use these. `names` are for messages.
 *
 * The largest integers on one or both sides stand for the range, and the smallest (largest of an unsigned type) is `_FillValue`,
 * for NaN. A value is wrong by at most half of scale_factor.
 *
 * Errors: CUBED_E_ARG if no array is floating-point, if values are infinite, or if a given scale does not reach them. */
CUBED_MUST_CHECK cubed_status packed_arrays(packed *p, cubed_context *ctx,
                                            const struct cli_common *common, cubed_array ***arrays,
                                            const char *const *names, int n, cubed_error *err);
void packed_free(packed *p);

#endif
