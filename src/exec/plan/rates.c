/* Estimates the rates of requests to stores on other machines, and the time of workers, at the speeds that cubed/plan.h
 * assumes. */
#include <math.h>

#include "chunks/chunk_need.h"
#include "chunks/prefixes.h"
#include "exec/plan/requests.h"

/* Estimates for a stage. All of its tasks are assumed to take the same time. */
typedef struct stage_load {
    double tasks, workers;
    double depth; /* number of reads that a worker has in flight */
    double task_seconds;
    double seconds; /* duration of the stage without limits of services */
} stage_load;

/* Requests of a stage for the chunks of one array. */
typedef struct array_load {
    double requests, bytes; /* number of requests, and bytes of one request */
    double prefixes;
} array_load;

/* Returns the number of prefixes over which the chunks of an array are distributed. If the service limits the rate per prefix
 * (`limited`), chunks of intermediates are spread over several prefixes. */
static double prefixes_of(const cubed_plan *p, int node, bool limited)
{
    const cb_node *n = &p->ir.nodes[node];
    return limited && cb_node_is_intermediate(n) ? cb_prefixes(cb_grid_count(n->grid)) : 1;
}

/* Estimates the reads of one input of a stage. The total reads of the stage are known. They are divided among its inputs in
 * proportion to the number of reads of each array by all stages. */
static array_load reads_of(const cubed_plan *p, const cb_stage *s, int node, bool limited)
{
    double all = 0;
    for (int i = 0; i < s->ninputs; i++) all += (double)p->reads->chunks[s->inputs[i]];
    const double own = (double)p->reads->chunks[node];
    return (array_load){.requests = all > 0 ? (double)s->chunks_read * own / all : 0,
                        .bytes = own > 0 ? (double)p->reads->bytes[node] / own : 0,
                        .prefixes = prefixes_of(p, node, limited)};
}

static array_load writes_of(const cubed_plan *p, int node, bool limited)
{
    return (array_load){.requests = (double)cb_grid_count(p->ir.nodes[node].grid),
                        .bytes = (double)cb_chunk_bytes(p, node),
                        .prefixes = prefixes_of(p, node, limited)};
}

/* Returns the seconds that workers need to transfer the chunks of an array in a store on another machine. */
static double seconds_far(const array_load *x, double depth)
{
    return x->requests * (CUBED_ASSUMED_REPLY / depth + x->bytes / CUBED_ASSUMED_WORKER_NET);
}

static double seconds_near(const array_load *x)
{
    return x->requests * (CUBED_ASSUMED_LATENCY + x->bytes / CUBED_ASSUMED_BANDWIDTH);
}

static double busy_seconds(const cb_stage *s)
{
    return s->moves.read + s->moves.write + s->moves.memory + s->operations;
}

/* Returns the total time of all workers for the stage, in seconds. */
static double worker_seconds(const cubed_plan *p, const cb_stage *s, bool spills, double depth)
{
    double seconds = busy_seconds(s);
    if (!p->reads)
        return seconds +
               ((double)s->bytes_read + (double)s->bytes_written) / CUBED_ASSUMED_BANDWIDTH +
               ((double)s->chunks_read + (double)s->chunks_written) * CUBED_ASSUMED_LATENCY;
    for (int i = 0; i < s->ninputs; i++) {
        const array_load x = reads_of(p, s, s->inputs[i], false);
        seconds += cb_plan_service(p, s->inputs[i], spills) >= 0 ? seconds_far(&x, depth)
                                                                 : seconds_near(&x);
    }
    for (int o = 0; o < s->nouts; o++) {
        const array_load x = writes_of(p, s->outs[o].node, false);
        seconds += cb_plan_service(p, s->outs[o].node, spills) >= 0 ? seconds_far(&x, 1)
                                                                    : seconds_near(&x);
    }
    return seconds;
}

static stage_load load_of(const cubed_plan *p, const cb_stage *s, bool spills)
{
    stage_load l = {.tasks = fmax(1, (double)s->ntasks * s->coop),
                    .depth = fmax(1, p->fetch_depth)};
    l.workers = fmin(l.tasks, p->max_workers);
    l.task_seconds = worker_seconds(p, s, spills, l.depth) / l.tasks;
    l.seconds = ceil(l.tasks / l.workers) * l.task_seconds;
    return l;
}

/* Returns the highest rate of requests to one prefix. It is the rate of the first second, or of the whole stage if tasks take
 * less than a second. A worker's rate is limited by its connections. The number of requests is at most that of the whole
 * stage. */
static double rate_of(const stage_load *l, const array_load *x, double in_flight)
{
    const double speed = fmin(in_flight / CUBED_ASSUMED_REPLY,
                              x->bytes > 0 ? CUBED_ASSUMED_WORKER_NET / x->bytes : INFINITY);
    const double each = x->requests / l->tasks / fmax(fmin(l->task_seconds, 1), 1e-9);
    return fmin(l->workers * fmin(each, speed), x->requests) / x->prefixes;
}

static double seconds_of_limit(const array_load *x, double limit)
{
    return limit > 0 ? x->requests / x->prefixes / limit : 0;
}

static void add_stage(const cubed_plan *p, const cb_stage *s, bool spills,
                      cubed_store_traffic *list)
{
    const stage_load l = load_of(p, s, spills);
    double longest[CB_SERVICES] = {0};
    for (int i = 0; i < s->ninputs; i++) {
        const int service = cb_plan_service(p, s->inputs[i], spills);
        if (service < 0) continue;
        cubed_store_traffic *t = &list[service];
        const array_load x = reads_of(p, s, s->inputs[i], t->get_limit > 0);
        t->get_rate = fmax(t->get_rate, rate_of(&l, &x, l.depth));
        longest[service] = fmax(longest[service], seconds_of_limit(&x, t->get_limit));
    }
    for (int o = 0; o < s->nouts; o++) {
        const int service = cb_plan_service(p, s->outs[o].node, spills);
        if (service < 0) continue;
        cubed_store_traffic *t = &list[service];
        const array_load x = writes_of(p, s->outs[o].node, t->put_limit > 0);
        t->put_rate = fmax(t->put_rate, rate_of(&l, &x, 1));
        longest[service] = fmax(longest[service], seconds_of_limit(&x, t->put_limit));
    }
    for (int i = 0; i < CB_SERVICES; i++) list[i].limit_seconds += fmax(0, longest[i] - l.seconds);
}

void cubed_plan_get_traffic(const cubed_plan *p, bool apart, cubed_store_traffic *list, int cap,
                            int *n)
{
    cubed_store_traffic of[CB_SERVICES];
    const bool spills = cb_plan_spills(p, apart);
    cb_plan_count_requests(p, apart, of);
    for (int i = 0; p->reads && i < p->nstages; i++) add_stage(p, &p->stages[i], spills, of);
    *n = 0;
    for (int i = 0; i < CB_SERVICES; i++) {
        if (!of[i].scheme) continue;
        if (*n < cap) list[*n] = of[i];
        ++*n;
    }
}

void cubed_plan_get_usage(const cubed_plan *p, bool apart, cubed_worker_usage *usage)
{
    const bool spills = cb_plan_spills(p, apart);
    double seconds = 0;
    for (int i = 0; i < p->nstages; i++)
        seconds += worker_seconds(p, &p->stages[i], spills, fmax(1, p->fetch_depth));
    *usage = (cubed_worker_usage){.worker_seconds = seconds,
                                  .gb_seconds = seconds * (double)p->allowed_mem * 1e-9};
}
