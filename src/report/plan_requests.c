/* Describes the requests that a plan sends to stores on other machines. */
#include <inttypes.h>
#include <math.h>

#include "report/report.h"
#include "report/report_text.h"

void report_get_requests(const cubed_plan *plan, bool apart, report_requests *out)
{
    cubed_plan_get_traffic(plan, apart, out->of, REPORT_SERVICES, &out->n);
    cubed_plan_get_usage(plan, apart, &out->usage);
    for (int i = 0; i < out->n; i++) {
        cubed_store_price price;
        (void)cubed_store_list_price(out->of[i].scheme, &price);
        out->cost[i] = cubed_traffic_cost(&out->of[i], &price);
    }
}

static void put_counts(const cubed_store_traffic *t, double cost, FILE *f)
{
    char a[32], b[32];
    fprintf(f,
            "%s: at most %" PRIu64 " GETs, %" PRIu64 " HEADs, %" PRIu64 " PUTs and %" PRIu64
            " LISTs",
            t->scheme, t->gets, t->heads, t->puts, t->lists);
    if (t->copies) fprintf(f, " (and %" PRIu64 " copies to replace arrays)", t->copies);
    fprintf(f, ", reads %s and writes %s, decoded; about %.*f US dollars\n",
            text_bytes((double)t->bytes_read, a), text_bytes((double)t->bytes_written, b),
            cost < 0.1 ? 6 : 2, cost);
    if (t->saved)
        fprintf(f, "%s: caches and joined reads may save up to %" PRIu64 " of these GETs\n",
                t->scheme, t->saved);
}

/* Writes the rates of a service with limits. */
static void put_rates(const cubed_store_traffic *t, FILE *f)
{
    if (t->get_limit <= 0) return;
    fprintf(f, "%s: at most %.0f GETs and %.0f PUTs per second to one prefix, limits %.0f and %.0f",
            t->scheme, ceil(t->get_rate), ceil(t->put_rate), t->get_limit, t->put_limit);
    if (t->limit_seconds > 0)
        fprintf(f, "; the limits cost about %.*f s", t->limit_seconds < 10 ? 1 : 0,
                t->limit_seconds);
    fputc('\n', f);
}

void report_put_requests(const cubed_plan *plan, const report_requests *requests, FILE *f)
{
    cubed_plan_info info;
    char mem[32];
    for (int i = 0; i < requests->n; i++) {
        put_counts(&requests->of[i], requests->cost[i], f);
        put_rates(&requests->of[i], f);
    }
    if (requests->n == 0) return;
    cubed_plan_get_info(plan, &info);
    fprintf(f, "%u worker%s: about %.3g s of all workers together, %.3g GB s with %s each\n",
            info.max_workers, info.max_workers == 1 ? "" : "s", requests->usage.worker_seconds,
            requests->usage.gb_seconds, text_bytes((double)info.allowed_mem, mem));
}
