/* A chain is a sequence of passes (copies) from one chunk grid to another, through intermediate arrays. These functions compute
 * the costs of chains for a given memory, and search for good chains. rechunk.c calls them with various amounts of memory. */
#ifndef CB_OPT_RECHUNK_CHAIN_H
#define CB_OPT_RECHUNK_CHAIN_H

#include "opt/rechunk.h"
#include "opt/rechunk_memo.h"

/* A chain of passes: pass i copies from grid i to grid i + 1. */
typedef struct cb_chain {
    int npasses; /* 0: no chain */
    cb_grid grid[CB_RECHUNK_MAX_PASSES + 1];
    cb_tile tile[CB_RECHUNK_MAX_PASSES];
    bool fits[CB_RECHUNK_MAX_PASSES];
    cb_rechunk_cost cost;     /* projected cost, if the chain was judged */
    uint64_t bytes, requests; /* sum of reading and writing */
    size_t need;              /* memory of a worker: the largest task, and the run's metadata */
    double seconds;           /* predicted seconds; INFINITY: the chain does not fit in memory */
    /* seconds, plus a penalty for more bytes or requests than `no_worse`, or fewer requests than cb_chain_floor */
    double score;
} cb_chain;

typedef struct cb_planner {
    cb_rechunk_in in; /* the input, with defaults filled in */
    cb_pass_memo *memo;
    size_t mem; /* memory limit of the search, in place of in.mem */
    /* factor from 0 to 1 by which cb_chain_floor multiplies its minimum number of requests */
    double floor;
    /* the search penalises chains with more bytes or more requests than this chain; NULL: no penalty */
    const cb_chain *no_worse;
    int trials; /* number of trials of the tile search that are left */
    /* last judged chain of each length, with its projected cost */
    cb_chain judged[CB_RECHUNK_MAX_PASSES];
} cb_planner;

/* Sets a chain of one pass whose tasks produce one chunk each, even if it does not fit. */
void cb_chain_single(const cb_planner *p, cb_chain *out);
/* Sets bytes, requests, memory, seconds and score of a chain from its cost, which may be estimated or projected. */
void cb_chain_rate(const cb_planner *p, const cb_rechunk_cost *cost, cb_chain *c);
/* Finds the best single pass from the source to the target. */
void cb_chain_direct(cb_planner *p, cb_chain *out);
/* Chooses the tasks of each pass again, for the memory p->mem. Keeps the grids of the chain. */
void cb_chain_again(cb_planner *p, cb_chain *c);
/* Finds the best chain of `npasses` passes within `trials` tile searches; its seconds are infinite if no chain fits. */
void cb_chain_search(cb_planner *p, int npasses, int trials, cb_chain *out);
/* Return lower bounds of the bytes and seconds of any chain of this length: those of a chain that reads nothing twice. */
uint64_t cb_chain_least_bytes(const cb_planner *p, int npasses);
double cb_chain_least_seconds(const cb_planner *p, int npasses);
/* Returns the minimum number of requests that a chain must have, if it moves more bytes than two passes need. A chain with fewer
 * requests would exclude chains of two passes later in the search, because these must not have more requests. If the chain moves
 * fewer bytes than p->no_worse, a number slightly below the requests of p->no_worse is sufficient. */
double cb_chain_floor(const cb_planner *p, const cb_chain *c);
/* Returns the number of requests that any chain needs at both ends: one for each source chunk and one for each target chunk. */
double cb_chain_ends(const cb_planner *p);

#endif
