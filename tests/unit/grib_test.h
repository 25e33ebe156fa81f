/* Messages of GRIB for tests. Include it after cmocka.h. */
#ifndef CB_TESTS_GRIB_TEST_H
#define CB_TESTS_GRIB_TEST_H

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { POINTS = 12, HOLE = 5, MOST = 512 };

/* ecCodes 2.28, regular_ll with 2 rows (60 and 50 degrees north) and 6 columns (0 to 300 degrees east), 12 bits per value: 270,
 * 272.5, ..., 297.5 with a missing value at HOLE, in base64. Temperature at 850 hPa on 2020-02-29 at 12:00. */
static const char grib_edition1[] =
    "R1JJQgAAhAEAADSAYoD/wKdkA1IUAh0MAAEAAAAAAAAVAAAAAAAAAAAAAAAAAAAAAQECBAEwMDAxAAAAAAAgAP8AAA"
    "YAAgDqYAAAAIAAw1AEk+DqYCcQAAAAAAAAAAgEAAD78AAAHASAB0MQ4AAMAAFAKAPAUAeAjAoAtAyA3AA3Nzc3";
static const char grib_edition2[] =
    "R1JJQv//AAIAAAAAAAAAxgAAABUBAGIAAAQAAQfkAh0MAAAAAgAAAEgDAAAAAAwAAAAABv///////////////////w"
    "AAAAYAAAACAAAAAP////8Dk4cAAAAAADAC+vCAEeGjAAOThwAAmJaAAAAAACIEAAAAAAAAAP+AAAAAAQAAAABkAAAB"
    "TAj///////8AAAAVBQAAAAsAAEOHAACABwAADAAAAAAIBgD78AAAABYHAAFAKAPAUAeAjAoAtAyA3AA3Nzc3";

typedef struct message {
    /* the allocation has exactly `size` bytes, so that sanitizers detect reads beyond the end */
    uint8_t *bytes;
    size_t size;
} message;

static inline message decoded(const char *text)
{
    uint8_t bytes[MOST];
    message m;
    assert_true(cb_base64_decode(text, bytes, sizeof bytes, &m.size));
    m.bytes = malloc(m.size);
    assert_non_null(m.bytes);
    memcpy(m.bytes, bytes, m.size);
    return m;
}

#endif
