/* Prefixes of the keys of intermediates.
 *
 * An object store limits the requests per second to each prefix of keys. So the chunks of a large intermediate are spread over
 * prefixes, by a hash of their indices. Both functions depend on the plan only, so all processes of a run, and a run that
 * resumes it, find the same keys. */
#ifndef CB_CHUNKS_PREFIXES_H
#define CB_CHUNKS_PREFIXES_H

#include <stdint.h>

#include "base/mix.h"

/* Number of chunks for each prefix, and maximum number of prefixes. 1,024 chunks are less than a third of the 3,500 objects that
 * S3 lets clients write to one prefix in one second. */
enum { CB_PREFIX_CHUNKS = 1024, CB_MOST_PREFIXES = 256 };

/* Returns the number of prefixes of an intermediate with `chunks` chunks: a power of two. */
static inline unsigned cb_prefixes(int64_t chunks)
{
    unsigned n = 1;
    while (n < CB_MOST_PREFIXES && (int64_t)n * CB_PREFIX_CHUNKS < chunks) n *= 2;
    return n;
}

/* Returns the number of a chunk's prefix, less than `prefixes`. Chunks that tasks read together (neighbours, rows and columns)
 * are spread evenly. */
static inline unsigned cb_prefix_of(int64_t chunk, unsigned prefixes)
{
    return (unsigned)cb_mix((uint64_t)chunk + UINT64_C(0x9e3779b97f4a7c15)) & (prefixes - 1);
}

#endif
