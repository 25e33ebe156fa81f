/* Chains of passes from one grid to another, for a given memory: what they cost, and the search for good ones. For
 * rechunk.c, which walks through memories. */
#ifndef CB_OPT_RECHUNK_CHAIN_H
#define CB_OPT_RECHUNK_CHAIN_H

#include "opt/rechunk.h"
#include "opt/rechunk_memo.h"

/* Passes being planned: pass i goes from grid i to grid i + 1. */
typedef struct cb_chain {
    int npasses; /* 0: there is none */
    cb_grid grid[CB_RECHUNK_MAX_PASSES + 1];
    cb_tile tile[CB_RECHUNK_MAX_PASSES];
    bool fits[CB_RECHUNK_MAX_PASSES];
    cb_rechunk_cost cost;     /* of those that were judged */
    uint64_t bytes, requests; /* read and written */
    size_t need;              /* of a worker: the largest task, and what a run keeps */
    double seconds;           /* INFINITY: it does not fit */
    double
        score; /* the same, and more where there are more bytes or requests than in `no_worse`, or
                               * fewer requests than the floor */
} cb_chain;

typedef struct cb_planner {
    cb_rechunk_in in; /* with its defaults filled in */
    cb_pass_memo *memo;
    size_t mem;   /* instead of in.mem */
    double floor; /* a part of it is what cb_chain_floor says */
    const cb_chain *
        no_worse; /* what is searched for shall have neither more bytes nor more requests; or NULL */
    int trials;   /* left */
    cb_chain judged
        [CB_RECHUNK_MAX_PASSES]; /* the last ones of so many passes, by what they will be projected to cost */
} cb_planner;

/* A pass whose tasks make a chunk each, as if it fitted. */
void cb_chain_single(const cb_planner *p, cb_chain *out);
/* Rates a chain by these costs. */
void cb_chain_rate(const cb_planner *p, const cb_rechunk_cost *cost, cb_chain *c);
/* A pass from the source to the target. */
void cb_chain_direct(cb_planner *p, cb_chain *out);
/* The same grids by tasks of the planner's memory. */
void cb_chain_again(cb_planner *p, cb_chain *c);
/* The best chain of so many passes that is found with so many tile searches; of infinite seconds if none fits. */
void cb_chain_search(cb_planner *p, int npasses, int trials, cb_chain *out);
/* Bytes, and seconds, that no chain of so many passes falls below: nothing is read twice. */
uint64_t cb_chain_least_bytes(const cb_planner *p, int npasses);
double cb_chain_least_seconds(const cb_planner *p, int npasses);
/* The requests that a chain shall have at least which moves more bytes than two passes need to, so that it does not
 * stand in the way of those. Where it moves less than `no_worse`, somewhat fewer requests than that has will do. */
double cb_chain_floor(const cb_planner *p, const cb_chain *c);
/* Requests of reading every chunk of the source and writing every one of the target. */
double cb_chain_ends(const cb_planner *p);

#endif
