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
    /* Ranges of values of the floating-point arrays, in their order, which the first call of packed_arrays found. */
    int n;
    struct packed_range {
        double low, high;
    } * range;
} packed;

/* Parses TYPE[,scale=S][,offset=O]. Returns NULL, or an error message, which the caller frees. */
char *packed_parse(packed *p, const char *text);
/* Packs n arrays: replaces each floating-point array by an array of integers. The first call finds the ranges of their values,
 * in a separate run; later calls use these ranges. `names` are for messages.
 *
 * The range is mapped to the integers of the type, except the smallest (largest of an unsigned type), which is `_FillValue`,
 * for NaN. The error of a value is at most half of scale_factor.
 *
 * Errors: CUBED_E_ARG if no array is floating-point, if values are infinite, or if values are out of range with a given
 * scale. */
CUBED_MUST_CHECK cubed_status packed_arrays(packed *p, cubed_context *ctx,
                                            const struct cli_common *common, cubed_array ***arrays,
                                            const char *const *names, int n, cubed_error *err);
void packed_free(packed *p);

#endif
