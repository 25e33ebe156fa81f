/* Chooses chunk lengths for arrays whose chunks were not specified. */
#include <math.h>

#include "plan/graph.h"

/* Margin, so that rounding of a root does not make the side of a cube shorter by 1. */
#define ROUNDING 1e-9

/* Gives each undecided axis that is at most as long as `side` one chunk of its whole extent. Returns true if there was such an
 * axis. */
static bool take_short(int ndim, const int64_t *shape, double side, double *room, int64_t *chunks)
{
    bool found = false;
    for (int d = 0; d < ndim; d++) {
        if (chunks[d] > 0 || (double)shape[d] > side) continue;
        chunks[d] = shape[d] > 1 ? shape[d] : 1;
        *room /= (double)chunks[d];
        found = true;
    }
    return found;
}

void cb_even_chunks(int ndim, const int64_t *shape, size_t item_size, double target,
                    int64_t *chunks)
{
    double known = 1;
    for (int d = 0; d < ndim; d++) known *= chunks[d] > 0 ? (double)chunks[d] : 1;
    double room = fmax(1, target / (double)item_size / known);
    for (;;) {
        int n = 0;
        for (int d = 0; d < ndim; d++) n += chunks[d] == 0;
        if (n == 0) return;
        const double side = pow(room, 1.0 / n);
        if (take_short(ndim, shape, side, &room, chunks)) continue;
        for (int d = 0; d < ndim; d++) {
            if (chunks[d] == 0) chunks[d] = side < 1 ? 1 : (int64_t)(side + ROUNDING);
        }
    }
}
