/* Functions of extra/pcodec/src/lib.rs, which wraps pco. They keep no state. */
#ifndef CB_CODEC_PCODEC_H
#define CB_CODEC_PCODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cb_pco_config {
    size_t level, page; /* page: maximum number of numbers in a page */
    bool classic;
    int delta; /* delta order, or CB_PCO_AUTO or CB_PCO_LOOKBACK */
} cb_pco_config;
enum { CB_PCO_AUTO = -1, CB_PCO_LOOKBACK = -2 };

/* Receives an error message. */
typedef struct cb_pco_says {
    char *text;
    size_t room;
} cb_pco_says;
enum { CB_PCO_DONE, CB_PCO_REFUSED, CB_PCO_NO_MEMORY };

/* `number` is the number by which pco identifies the type. Functions with `memory` fail before they allocate more than `memory`
 * bytes. */
size_t cb_pco_bound(uint8_t number, size_t n, size_t page);
int cb_pco_encode(uint8_t number, const cb_pco_config *config, const void *src, size_t n, void *dst,
                  size_t cap, size_t *got, size_t memory, cb_pco_says says);
/* Returns CB_PCO_REFUSED if `src` does not contain n numbers, or needs more memory than the data of any writer. */
int cb_pco_decode(uint8_t number, const void *src, size_t size, void *dst, size_t n, size_t memory,
                  cb_pco_says says);

#endif
