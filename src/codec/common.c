/* Functions shared by several codecs. */
#include <stdio.h>
#include <string.h>

#include "codec/codec_pkg.h"

cubed_status cb_conf_int(const json_t *conf, const cb_conf_key *key, int64_t *out, cubed_error *err)
{
    const json_t *v = json_object_get(conf, key->key);
    *out = key->missing;
    if (!v) return CUBED_OK;
    if (json_is_boolean(v))
        *out = json_is_true(v);
    else if (json_is_integer(v))
        *out = json_integer_value(v);
    else
        return cb_fail(err, CUBED_E_FORMAT, "codec %s: \"%s\" must be an integer", key->codec,
                       key->key);
    if (*out < key->lo || *out > key->hi)
        return cb_fail(err, CUBED_E_FORMAT, "codec %s: \"%s\" is %lld, expected %lld to %lld",
                       key->codec, key->key, (long long)*out, (long long)key->lo,
                       (long long)key->hi);
    return CUBED_OK;
}

static cubed_status begin(const char *json, const char *codec, json_t **doc, cubed_error *err)
{
    char where[64];
    snprintf(where, sizeof where, "codec %s", codec);
    return cb_json_parse(where, json, strlen(json), doc, err);
}

cubed_status cb_conf_parse(const char *json, const char *codec, int format,
                           const cubed_codec_ctx *ctx, cb_conf_read_fn read, void *conf,
                           cubed_error *err)
{
    json_t *doc = NULL;
    CB_TRY(begin(json, codec, &doc, err));
    cubed_status st = read(doc, format, ctx, conf, err);
    json_decref(doc);
    return st;
}

cubed_status cb_conf_parse_int(const char *json, const cb_conf_key *key, int64_t *out,
                               cubed_error *err)
{
    json_t *doc = NULL;
    CB_TRY(begin(json, key->codec, &doc, err));
    cubed_status st = cb_conf_int(doc, key, out, err);
    json_decref(doc);
    return st;
}

cubed_status cb_conf_print_int(int64_t value, const cb_conf_key *key, char *json, size_t cap,
                               cubed_error *err)
{
    int n = snprintf(json, cap, "{\"%s\": %lld}", key->key, (long long)value);
    if (n > 0 && (size_t)n < cap) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG, "codec %s: the configuration does not fit into %zu bytes",
                   key->codec, cap);
}

size_t cb_codec_same_bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    return raw_size ? raw_size : 1; /* a bound of 0 would mean overflow */
}

cubed_codec_need cb_codec_needs_nothing(const void *conf, const cubed_codec_ctx *ctx,
                                        size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){0, 0};
}

cubed_status cb_codec_parse_nothing(const char *json, int format, const cubed_codec_ctx *ctx,
                                    void *conf, cubed_error *err)
{
    (void)json;
    (void)format;
    (void)ctx;
    (void)conf;
    (void)err;
    return CUBED_OK;
}

cubed_status cb_codec_print_nothing(const void *conf, int format, const cubed_codec_ctx *ctx,
                                    char *json, size_t cap, cubed_error *err)
{
    (void)conf;
    (void)format;
    (void)ctx;
    if (cap < 3)
        return cb_fail(err, CUBED_E_ARG,
                       "a codec without parameters: the configuration does not fit into %zu bytes",
                       cap);
    snprintf(json, cap, "{}");
    return CUBED_OK;
}

size_t cb_codec_four_more(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    size_t n;
    (void)conf;
    (void)ctx;
    return cb_add_size(raw_size, 4, &n) ? 0 : n;
}
