/* Prints plans as text for users and as JSON for programs. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "cli.h"
#include "report/report.h"

/* REASONS: maximum number of reasons shown; SHOWN: maximum number of arrays shown for each. Both limit the output for many
 * stages. */
enum { REASONS = 5, SHOWN = 4 };

typedef struct reasons {
    int n, left_out; /* left_out: number of reasons that did not fit in the list */
    struct {
        char *why, *text; /* texts of the first array with this reason */
        int count;
    } of[REASONS];
} reasons;

static void add_reason(reasons *r, const char *why, const char *what)
{
    int i = 0;
    while (i < r->n && strcmp(r->of[i].why, why) != 0) i++;
    if (i == REASONS) {
        r->left_out++;
        return;
    }
    if (i == r->n) {
        r->n++;
        r->of[i].why = cli_strdup(why);
        r->of[i].text = cli_strdup(what);
        r->of[i].count = 1;
    } else if (r->of[i].count++ < SHOWN) {
        char *longer = cli_printf("%s, %s", r->of[i].text, what);
        cli_free(r->of[i].text);
        r->of[i].text = longer;
    }
}

static void put_reasons(FILE *f, const char *title, reasons *r)
{
    if (r->n > 0) fprintf(f, "%s\n", title);
    for (int i = 0; i < r->n; i++) {
        cli_say(f, "  %s", r->of[i].text);
        if (r->of[i].count > SHOWN) fprintf(f, ", ... (%d in all)", r->of[i].count);
        cli_say(f, ": %s\n", r->of[i].why);
        cli_free(r->of[i].why);
        cli_free(r->of[i].text);
    }
    if (r->left_out > 0) fprintf(f, "  and %d for other reasons: --json lists all\n", r->left_out);
}

static void print_promises(FILE *f, const cubed_plan *plan)
{
    cubed_promise x;
    char text[CUBED_PROMISE_TEXT_CAP], size[32];
    reasons r = {.n = 0};
    for (int i = 0; cubed_plan_get_promise(plan, i, &x, NULL) == CUBED_OK; i++) {
        char *target = cli_printf("%s (up to %s)", x.url, cli_format_bytes((double)x.bytes, size));
        cubed_promise_text(&x, text, sizeof text);
        add_reason(&r, text, target);
        cli_free(target);
    }
    put_reasons(f, "targets, and what protects them from late writes of other runs", &r);
}

void cli_print_plan(FILE *f, const cubed_plan *plan, const report_requests *traffic,
                    uint64_t mem_after)
{
    cubed_error err = CUBED_ERROR_INIT;
    char size[32];
    if (report_plan_table(plan, f, &err) != CUBED_OK) cli_must(NULL);
    report_put_requests(plan, traffic, f);
    const char *document, *places;
    for (int i = 0; (places = cubed_plan_get_references(plan, i, &document)); i++) {
        cli_say(f, "%s may refer to", document);
        for (; *places; places += strcspn(places, "\n"), places += *places == '\n')
            cli_say(f, " %.*s", (int)strcspn(places, "\n"), places);
        fputc('\n', f);
    }
    cubed_validator v;
    for (int i = 0; (v = cubed_plan_get_validator(plan, i, &document)); i++)
        cli_say(f, "%s: %s\n", document, cubed_validator_text(v));
    print_promises(f, plan);
    if (mem_after)
        fprintf(f, "the file is written when all tasks are done, by one thread with up to %s\n",
                cli_format_bytes((double)mem_after, size));
}

void cli_explain_plan(FILE *f, const cubed_plan *plan)
{
    cubed_plan_info info;
    cubed_stored_info x;
    char dtype[CUBED_DTYPE_TEXT_CAP];
    reasons stored = {.n = 0}, apart = {.n = 0};
    cubed_plan_get_info(plan, &info);
    if (info.num_stages == 1) fputs("everything is one pass: each input is read once\n", f);
    for (int i = 0; i < info.num_stages; i++) {
        for (int k = 0; cubed_plan_get_output(plan, i, k, &x, NULL) == CUBED_OK; k++) {
            if (x.is_target) continue;
            char *text = cli_printf("by stage %d: %s (", i, cubed_dtype_text(x.dtype, dtype));
            for (int d = 0; d < x.ndim; d++) {
                char *longer = cli_printf(d ? "%s, %" PRId64 : "%s%" PRId64, text, x.shape[d]);
                cli_free(text);
                text = longer;
            }
            char *whole = cli_printf("%s)", text);
            add_reason(&stored, x.why, whole);
            cli_free(whole);
            cli_free(text);
        }
        for (int k = i + 1; k < info.num_stages; k++) {
            const char *why = cubed_plan_why_apart(plan, i, k);
            char *pair = why ? cli_printf("%d and %d", i, k) : NULL;
            if (why) add_reason(&apart, why, pair);
            cli_free(pair);
        }
    }
    put_reasons(f, "intermediates, and why they are stored", &stored);
    put_reasons(f, "stages that read the same array, and why they are separate", &apart);
}

static json_t *stored_json(const cubed_stored_info *x)
{
    json_t *o = json_object(), *shape = json_array(), *chunks = json_array();
    for (int d = 0; d < x->ndim; d++) {
        json_array_append_new(shape, json_integer(x->shape[d]));
        json_array_append_new(chunks, json_integer(x->chunks[d]));
    }
    json_object_set_new(o, "id", json_integer(x->id));
    json_object_set_new(o, "name", json_string(x->name));
    json_object_set_new(o, "kind",
                        json_string(x->is_source   ? "source"
                                    : x->is_target ? "target"
                                                   : "intermediate"));
    char dtype[CUBED_DTYPE_TEXT_CAP];
    json_object_set_new(o, "dtype", json_string(cubed_dtype_text(x->dtype, dtype)));
    if (!x->is_source) json_object_set_new(o, "why", json_string(x->why));
    json_object_set_new(o, "shape", shape);
    json_object_set_new(o, "chunks", chunks);
    return o;
}

static json_t *apart_json(const cubed_plan *plan, int num_stages)
{
    json_t *list = json_array();
    for (int i = 0; i < num_stages; i++) {
        for (int k = i + 1; k < num_stages; k++) {
            const char *why = cubed_plan_why_apart(plan, i, k);
            if (!why) continue;
            json_t *o = json_object(), *pair = json_array();
            json_array_append_new(pair, json_integer(i));
            json_array_append_new(pair, json_integer(k));
            json_object_set_new(o, "stages", pair);
            json_object_set_new(o, "why", json_string(why));
            json_array_append_new(list, o);
        }
    }
    return list;
}

static json_t *stage_json(const cubed_plan *plan, int stage, const cubed_stage_info *s)
{
    json_t *o = json_object(), *inputs = json_array(), *outputs = json_array();
    cubed_stored_info x;
    for (int k = 0; cubed_plan_get_input(plan, stage, k, &x, NULL) == CUBED_OK; k++)
        json_array_append_new(inputs, stored_json(&x));
    for (int k = 0; cubed_plan_get_output(plan, stage, k, &x, NULL) == CUBED_OK; k++)
        json_array_append_new(outputs, stored_json(&x));
    json_object_set_new(o, "operation", json_string(s->name));
    json_object_set_new(o, "tasks", json_integer(s->num_tasks));
    json_object_set_new(o, "coop", json_integer(s->coop));
    json_object_set_new(o, "projected_mem", json_integer((json_int_t)s->projected_mem));
    json_object_set_new(o, "bytes_read", json_integer((json_int_t)s->bytes_read));
    json_object_set_new(o, "bytes_written", json_integer((json_int_t)s->bytes_written));
    json_object_set_new(o, "chunks_read", json_integer((json_int_t)s->chunks_read));
    json_object_set_new(o, "chunks_written", json_integer((json_int_t)s->chunks_written));
    json_object_set_new(o, "compute_seconds", json_real(s->compute_seconds));
    json_object_set_new(o, "read_seconds", json_real(s->read_seconds));
    json_object_set_new(o, "write_seconds", json_real(s->write_seconds));
    json_object_set_new(o, "seconds", json_real(s->seconds));
    json_object_set_new(o, "inputs", inputs);
    json_object_set_new(o, "outputs", outputs);
    return o;
}

static json_t *traffic_json(const report_requests *traffic)
{
    json_t *list = json_array();
    for (int i = 0; i < traffic->n; i++) {
        const cubed_store_traffic *t = &traffic->of[i];
        json_t *o = json_object();
        json_object_set_new(o, "scheme", json_string(t->scheme));
        json_object_set_new(o, "gets", json_integer((json_int_t)t->gets));
        json_object_set_new(o, "heads", json_integer((json_int_t)t->heads));
        json_object_set_new(o, "puts", json_integer((json_int_t)t->puts));
        json_object_set_new(o, "lists", json_integer((json_int_t)t->lists));
        json_object_set_new(o, "copies", json_integer((json_int_t)t->copies));
        json_object_set_new(o, "deletes", json_integer((json_int_t)t->deletes));
        json_object_set_new(o, "saved", json_integer((json_int_t)t->saved));
        json_object_set_new(o, "bytes_read", json_integer((json_int_t)t->bytes_read));
        json_object_set_new(o, "bytes_written", json_integer((json_int_t)t->bytes_written));
        json_object_set_new(o, "cost", json_real(traffic->cost[i]));
        json_object_set_new(o, "get_rate", json_real(t->get_rate));
        json_object_set_new(o, "put_rate", json_real(t->put_rate));
        json_object_set_new(o, "get_limit", json_real(t->get_limit));
        json_object_set_new(o, "put_limit", json_real(t->put_limit));
        json_object_set_new(o, "limit_seconds", json_real(t->limit_seconds));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *promises_json(const cubed_plan *plan)
{
    json_t *list = json_array();
    cubed_promise x;
    char text[CUBED_PROMISE_TEXT_CAP];
    for (int i = 0; cubed_plan_get_promise(plan, i, &x, NULL) == CUBED_OK; i++) {
        json_t *o = json_object();
        cubed_promise_text(&x, text, sizeof text);
        json_object_set_new(o, "url", json_string(x.url));
        json_object_set_new(o, "fence", json_string(cubed_fence_name(x.fence)));
        json_object_set_new(o, "promise", json_string(text));
        json_object_set_new(o, "is_region", json_boolean(x.is_region));
        json_object_set_new(o, "shared_chunks", json_integer((json_int_t)x.shared_chunks));
        json_object_set_new(o, "claim_requests", json_integer((json_int_t)x.claim_requests));
        json_object_set_new(o, "chunk_requests", json_integer((json_int_t)x.chunk_requests));
        json_object_set_new(o, "bytes", json_integer((json_int_t)x.bytes));
        json_object_set_new(o, "may_replace", json_boolean(x.may_replace));
        json_object_set_new(o, "copies", json_boolean(x.copies));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *references_json(const cubed_plan *plan)
{
    json_t *all = json_object();
    const char *document, *places;
    for (int i = 0; (places = cubed_plan_get_references(plan, i, &document)); i++) {
        json_t *list = json_array();
        for (; *places; places += strcspn(places, "\n"), places += *places == '\n')
            json_array_append_new(list, json_stringn(places, strcspn(places, "\n")));
        json_object_set_new(all, document, list);
    }
    return all;
}

/* Lists sources whose servers report no versions. */
static json_t *validators_json(const cubed_plan *plan)
{
    json_t *all = json_object();
    const char *url;
    cubed_validator v;
    for (int i = 0; (v = cubed_plan_get_validator(plan, i, &url)); i++)
        json_object_set_new(all, url, json_string(cubed_validator_name(v)));
    return all;
}

void cli_print_plan_json(FILE *f, const cubed_plan *plan, const report_requests *traffic,
                         uint64_t mem_after)
{
    cubed_plan_info info;
    json_t *o = json_object(), *stages = json_array();
    cubed_plan_get_info(plan, &info);
    for (int i = 0; i < info.num_stages; i++) {
        cubed_stage_info s;
        if (cubed_plan_get_stage(plan, i, &s, NULL) == CUBED_OK)
            json_array_append_new(stages, stage_json(plan, i, &s));
    }
    json_object_set_new(o, "stages", stages);
    json_object_set_new(o, "apart", apart_json(plan, info.num_stages));
    json_object_set_new(o, "traffic", traffic_json(traffic));
    json_object_set_new(o, "worker_seconds", json_real(traffic->usage.worker_seconds));
    json_object_set_new(o, "gb_seconds", json_real(traffic->usage.gb_seconds));
    json_object_set_new(o, "references", references_json(plan));
    json_object_set_new(o, "validators", validators_json(plan));
    json_object_set_new(o, "targets", promises_json(plan));
    json_object_set_new(o, "tasks", json_integer(info.num_tasks));
    json_object_set_new(o, "workers", json_integer(info.max_workers));
    json_object_set_new(o, "allowed_mem", json_integer((json_int_t)info.allowed_mem));
    json_object_set_new(o, "reserved_mem", json_integer((json_int_t)info.reserved_mem));
    json_object_set_new(o, "projected_mem", json_integer((json_int_t)info.projected_mem));
    json_object_set_new(o, "file_mem", json_integer((json_int_t)mem_after));
    json_object_set_new(o, "metadata_mem", json_integer((json_int_t)info.metadata_mem));
    json_object_set_new(o, "intermediate_budget",
                        json_integer((json_int_t)info.intermediate_budget));
    json_object_set_new(o, "cache_budget", json_integer((json_int_t)info.cache_budget));
    json_object_set_new(o, "result_bytes", json_integer((json_int_t)info.result_bytes));
    json_object_set_new(o, "bytes_read", json_integer((json_int_t)info.bytes_read));
    json_object_set_new(o, "bytes_written", json_integer((json_int_t)info.bytes_written));
    json_object_set_new(o, "requests", json_integer((json_int_t)info.requests));
    json_object_set_new(o, "seconds", json_real(info.seconds));
    json_object_set_new(o, "compute_seconds", json_real(info.compute_seconds));
    json_dumpf(o, f, JSON_INDENT(2));
    fputc('\n', f);
    json_decref(o);
}
