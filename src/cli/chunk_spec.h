/* Lengths of chunks and shards on the command line: time=100,lat=-1 by dimension, or 100,-1 by position. */
#ifndef CUBED_CLI_CHUNK_SPEC_H
#define CUBED_CLI_CHUNK_SPEC_H

#include "cubed/cubed.h"

#define CHUNK_SPEC_EXPECTED                                                                        \
    "expected lengths (>= 1, or -1, or several such as 31+28+31 or 365x3+366) by position or "     \
    "name=length, once"

typedef struct chunk_spec {
    int n;
    bool named;
    struct {
        char *dim;
        int64_t length;
        int64_t *list; /* lengths of irregular chunks; NULL if all chunks have `length` */
        int64_t n;
        bool used; /* at least one array had this axis */
    } part[CUBED_MAX_NDIM];
} chunk_spec;

/* Parses a specification. *s must be empty. Returns false if the text is invalid. Call chunk_spec_free even then. */
bool chunk_spec_parse(const char *text, chunk_spec *s);
void chunk_spec_free(chunk_spec *s);
/* Sets lengths of one array's axes; `lengths` and `lists` of axes that are not in the specification are unchanged.
 *
 * option  for messages, such as "--chunks"
 * group   the array is one of several: if the number of lengths is wrong, the message advises to give lengths by name */
cubed_status chunk_spec_apply(chunk_spec *s, const char *option, bool group, const cubed_array *x,
                              const char *url, int64_t *lengths, cubed_chunk_list *lists,
                              cubed_error *err);
/* Returns the first dimension of the specification that no array had; NULL if each dimension was used. Call it after all
 * arrays. */
const char *chunk_spec_unused(const chunk_spec *s);

#endif
