/* Requests of a plan to object stores, and their cost by list prices or by given prices. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "report/report.h"

static cubed_status wrong_prices(cubed_error *err, const char *file, const char *what,
                                 const char *name)
{
    err->status = CUBED_E_ARG;
    snprintf(
        err->message, sizeof err->message,
        "prices in %.200s: %s%.100s, expected {\"s3\": {\"get\": 0.4, \"put\": 5, \"read\": 0, "
        "\"write\": 0}, ...}: US dollars for 10^6 requests and 10^9 bytes",
        file, what, name);
    return CUBED_E_ARG;
}

/* Reads the prices of one scheme. Prices that are not in the file stay unchanged. */
static cubed_status read_prices(json_t *of, const char *file, cubed_store_price *p,
                                cubed_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(of, key, value)
    {
        double *to = strcmp(key, "get") == 0     ? &p->get
                     : strcmp(key, "put") == 0   ? &p->put
                     : strcmp(key, "read") == 0  ? &p->read
                     : strcmp(key, "write") == 0 ? &p->written
                                                 : NULL;
        if (!to) return wrong_prices(err, file, "no price is given for ", key);
        if (!json_is_number(value) || json_number_value(value) < 0)
            return wrong_prices(err, file, "no number >= 0 is ", key);
        *to = json_number_value(value);
    }
    return CUBED_OK;
}

static cubed_status check_prices(json_t *all, const char *file, const char *why, cubed_error *err)
{
    const char *scheme;
    json_t *of;
    if (!json_is_object(all)) return wrong_prices(err, file, why, "");
    json_object_foreach(all, scheme, of)
    {
        cubed_store_price price;
        if (!cubed_store_list_price(scheme, &price))
            return wrong_prices(err, file, "no store has the scheme ", scheme);
        if (!json_is_object(of)) return wrong_prices(err, file, "no object is ", scheme);
        const cubed_status st = read_prices(of, file, &price, err);
        if (st != CUBED_OK) return st;
    }
    return CUBED_OK;
}

cubed_status cli_get_traffic(const cubed_plan *plan, const cli_common *c, report_requests *out,
                             cubed_error *err)
{
    cubed_executor_caps caps;
    json_error_t wrong = {.text = ""};
    cubed_status st = cubed_executor_get_caps(NULL, c->executor, &caps, err);
    if (st != CUBED_OK) return st;
    json_t *all = c->prices ? json_load_file(c->prices, 0, &wrong) : NULL;
    if (c->prices) st = check_prices(all, c->prices, wrong.text, err);
    const bool apart = !caps.shares_memory || c->other_machines;
    report_get_requests(plan, apart, out);
    for (int i = 0; st == CUBED_OK && i < out->n; i++) {
        cubed_store_price price;
        (void)cubed_store_list_price(out->of[i].scheme, &price);
        json_t *of = json_object_get(all, out->of[i].scheme);
        if (of) st = read_prices(of, c->prices, &price, err);
        out->cost[i] = cubed_traffic_cost(&out->of[i], &price);
    }
    json_decref(all);
    return st;
}
