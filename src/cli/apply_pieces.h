/* The results of `cubed apply` with an operator that splits its input, such as splityear. */
#ifndef CUBED_CLI_APPLY_PIECES_H
#define CUBED_CLI_APPLY_PIECES_H

#include "apply_expression.h"

/* One of the results of a split. */
typedef struct piece {
    char *suffix, *only;
    /* Selection of the piece; has no name if the piece is not selected along a dimension. */
    operation selects;
} piece;

typedef struct pieces {
    int n;
    piece *piece;
} pieces;

/* Finds the results of the outermost operation, which splits the input. */
int apply_find_pieces(apply *a, cubed_context *ctx, pieces *p);
void apply_free_pieces(pieces *p);

#endif
