/* The functions of extra/pcodec/src/lib.rs, which has pco. They keep no state. */
#ifndef CB_CODEC_PCODEC_H
#define CB_CODEC_PCODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cb_pco_config {
    size_t level, page; /* the most numbers of a page */
    bool classic;
    int delta; /* an order of differences, or one of these */
} cb_pco_config;
enum { CB_PCO_AUTO = -1, CB_PCO_LOOKBACK = -2 };

/* Where they say why they did not. */
typedef struct cb_pco_says {
    char *text;
    size_t room;
} cb_pco_says;
enum { CB_PCO_DONE, CB_PCO_REFUSED, CB_PCO_NO_MEMORY };

/* `number` is pco's own for a type. Those that take `memory` look first whether there is so much. */
size_t cb_pco_bound(uint8_t number, size_t n, size_t page);
int cb_pco_encode(uint8_t number, const cb_pco_config *config, const void *src, size_t n, void *dst,
                  size_t cap, size_t *got, size_t memory, cb_pco_says says);
/* Refused is what is not of n numbers, or asks for more memory than writers need. */
int cb_pco_decode(uint8_t number, const void *src, size_t size, void *dst, size_t n, size_t memory,
                  cb_pco_says says);

#endif
