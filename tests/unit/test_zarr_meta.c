/* Zarr metadata: accepted documents, refused documents with their messages, and printing of parsed documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "zarr/zarr_pkg.h"

typedef struct parsed {
    cb_zone *zone;
    cb_zarr_meta meta;
    cubed_error err;
    cubed_status status;
} parsed;

static json_t *json(const char *text)
{
    json_t *doc;
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_json_parse("test", text, strlen(text), &doc, &err) != CUBED_OK)
        fail_msg("%s: %s", text, err.message);
    return doc;
}

static void parse_docs(parsed *p, int format, const json_t *doc, const json_t *zattrs)
{
    p->err = (cubed_error)CUBED_ERROR_INIT;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &p->zone, NULL), CUBED_OK);
    p->status = format == 2
                    ? cb_zarr_parse_v2("u/.zarray", NULL, doc, zattrs, p->zone, &p->meta, &p->err)
                    : cb_zarr_parse_v3("u/zarr.json", NULL, doc, p->zone, &p->meta, &p->err);
}

/* Returns a valid document in which some keys are replaced. The value "-" removes a key. */
static json_t *changed(const char *good, const char *changes)
{
    json_t *doc = json(good), *change = json(changes), *v;
    const char *key;
    json_object_foreach(change, key, v)
    {
        const char *s = json_string_value(v);
        if (s && strcmp(s, "-") == 0)
            json_object_del(doc, key);
        else
            json_object_set(doc, key, v);
    }
    json_decref(change);
    return doc;
}

static const char good_v2[] =
    "{\"zarr_format\": 2, \"shape\": [10, 20], \"chunks\": [4, 6], \"dtype\": \"<f4\", "
    "\"fill_value\": 0, \"order\": \"C\", \"filters\": null, \"compressor\": null}";
static const char good_v3[] =
    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [10, 20], \"data_type\": "
    "\"float32\", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": "
    "[4, 6]}}, \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": "
    "{\"separator\": \"/\"}}, \"fill_value\": 0, \"codecs\": [{\"name\": \"bytes\", "
    "\"configuration\": {\"endian\": \"little\"}}], \"attributes\": {}, "
    "\"storage_transformers\": []}";

static void parse_changed(parsed *p, int format, const char *changes)
{
    json_t *doc = changed(format == 2 ? good_v2 : good_v3, changes);
    parse_docs(p, format, doc, NULL);
    json_decref(doc);
}

static void expect_ok(parsed *p, int format, const char *changes)
{
    parse_changed(p, format, changes);
    if (p->status != CUBED_OK) fail_msg("v%d %s: %s", format, changes, p->err.message);
}

static void print_docs(const cb_zarr_meta *m, json_t **doc, json_t **zattrs)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st =
        m->format == 2 ? cb_zarr_print_v2(m, doc, zattrs, &err) : cb_zarr_print_v3(m, doc, &err);
    if (st != CUBED_OK) fail_msg("%s", err.message);
}

static void expect_same(const cb_zarr_meta *a, const cb_zarr_meta *b)
{
    assert_int_equal(a->format, b->format);
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->ndim, b->ndim);
    assert_memory_equal(a->shape, b->shape, sizeof a->shape);
    assert_memory_equal(a->chunk, b->chunk, sizeof a->chunk);
    assert_memory_equal(&a->fill, &b->fill, cubed_dtype_size(a->dtype));
    assert_int_equal(a->fill_is_null, b->fill_is_null);
    assert_int_equal(a->order_f, b->order_f);
    assert_int_equal(a->separator, b->separator);
    assert_int_equal(a->v2_keys, b->v2_keys);
    assert_string_equal(a->attrs, b->attrs);
    for (int d = 0; d < a->ndim; d++) {
        assert_int_equal(a->dim_names[d] == NULL, b->dim_names[d] == NULL);
        if (a->dim_names[d]) assert_string_equal(a->dim_names[d], b->dim_names[d]);
    }
    assert_int_equal(a->codecs.all.n, b->codecs.all.n);
    assert_int_equal(a->codecs.chunk_bytes, b->codecs.chunk_bytes);
    for (int i = 0; i < a->codecs.all.n; i++)
        assert_ptr_equal(a->codecs.step[i].vt, b->codecs.step[i].vt);
    json_t *ca, *cb;
    assert_int_equal(cb_codec_chain_print_v3(&a->codecs, &ca, NULL), CUBED_OK);
    assert_int_equal(cb_codec_chain_print_v3(&b->codecs, &cb, NULL), CUBED_OK);
    assert_true(json_equal(ca, cb));
    json_decref(ca);
    json_decref(cb);
}

/* Prints parsed metadata as text, and parses the text again. */
static void expect_round_trip(const cb_zarr_meta *m)
{
    json_t *doc = NULL, *zattrs = NULL;
    const char *text;
    parsed again;
    cb_zone *zone;
    print_docs(m, &doc, &zattrs);
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    assert_int_equal(cb_json_text(doc, zone, &text, NULL), CUBED_OK);
    json_decref(doc);
    doc = json(text);
    parse_docs(&again, m->format, doc, zattrs);
    if (again.status != CUBED_OK) fail_msg("%s: %s", text, again.err.message);
    expect_same(m, &again.meta);
    json_decref(doc);
    json_decref(zattrs);
    cb_zone_free(again.zone);
    cb_zone_free(zone);
}

static void test_accepted(void **state)
{
    (void)state;
    static const struct {
        int format;
        const char *changes;
    } docs[] = {
        {2, "{}"},
        {2, "{\"dtype\": \">f8\", \"order\": \"F\", \"dimension_separator\": \"/\"}"},
        {2, "{\"dtype\": \"|u1\", \"compressor\": {\"id\": \"zlib\", \"level\": 9}}"},
        {2, "{\"dtype\": \"<u1\", \"filters\": []}"},
        {2, "{\"order\": \"-\", \"filters\": \"-\", \"compressor\": \"-\", \"fill_value\": \"-\"}"},
        {2, "{\"fill_value\": null, \"compressor\": {\"id\": \"blosc\", \"cname\": \"zstd\", "
            "\"clevel\": 3, \"shuffle\": -1, \"blocksize\": 0}}"},
        {2, "{\"shape\": [], \"chunks\": []}"},
        {2, "{\"shape\": [], \"chunks\": [], \"order\": \"F\"}"},
        {2, "{\"shape\": [0, 5], \"chunks\": [0, 5]}"},
        {2, "{\"shape\": [3, 5], \"chunks\": [300, 500]}"},
        {3, "{}"},
        {3, "{\"shape\": [], \"chunk_grid\": {\"name\": \"regular\", \"configuration\": "
            "{\"chunk_shape\": []}}, \"fill_value\": \"NaN\"}"},
        {3, "{\"shape\": [0, 9223372036854775807]}"},
        {3, "{\"dimension_names\": [\"\u00e5r\", null], \"attributes\": {\"a\": {\"b\": [1, 1.0, "
            "\"\u00e5\", null, true, 0.1, 1e300, 123456789012345678, 18446744073709551615, "
            "-123456789012345678901234567890]}}}"},
        {3, "{\"dimension_names\": null, \"storage_transformers\": \"-\", \"attributes\": \"-\"}"},
        {3, "{\"extra\": {\"name\": \"x\", \"must_understand\": false}, "
            "\"consolidated_metadata\": null}"},
        {3, "{\"chunk_key_encoding\": {\"name\": \"v2\"}}"},
        {3, "{\"chunk_key_encoding\": {\"name\": \"v2\", \"configuration\": {\"separator\": "
            "\"/\"}}}"},
        {3, "{\"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": "
            "\".\"}}}"},
        {3, "{\"chunk_key_encoding\": \"default\", \"data_type\": {\"name\": \"int8\"}}"},
        {3, "{\"data_type\": \"bool\", \"fill_value\": true, \"codecs\": [\"bytes\"]}"},
        {3, "{\"codecs\": [{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}, "
            "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}, {\"name\": "
            "\"zstd\", \"configuration\": {\"level\": 7, \"checksum\": true}}, \"crc32c\"]}"},
    };
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        parsed p;
        expect_ok(&p, docs[i].format, docs[i].changes);
        for (int d = 0; d < p.meta.ndim; d++) assert_true(p.meta.chunk[d] >= 1);
        expect_round_trip(&p.meta);
        cb_zone_free(p.zone);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        int format;
        cubed_status status;
        const char *changes, *says;
    } docs[] = {
        {2, CUBED_E_FORMAT, "{\"zarr_format\": 3}", "\"zarr_format\" is 3"},
        {2, CUBED_E_FORMAT, "{\"zarr_format\": \"-\"}", "missing"},
        {2, CUBED_E_UNSUPPORTED, "{\"dtype\": \"<M8[q]\"}", "\"<M8[q]\""},
        {2, CUBED_E_UNSUPPORTED, "{\"dtype\": \"|V5\"}", "\"|V5\""},
        {2, CUBED_E_UNSUPPORTED, "{\"dtype\": \"<U0\"}", "\"<U0\""},
        {2, CUBED_E_UNSUPPORTED, "{\"dtype\": \"<f3\"}", "\"<f3\""},
        {2, CUBED_E_UNSUPPORTED, "{\"dtype\": \"<c80\"}", "\"<c80\""},
        {2, CUBED_E_UNSUPPORTED, "{\"dtype\": \"|f4\"}", "\"|f4\""},
        {2, CUBED_E_UNSUPPORTED, "{\"dtype\": \"f4\"}", "\"f4\""},
        {2, CUBED_E_UNSUPPORTED, "{\"dtype\": \"\"}", "\"\""},
        {2, CUBED_E_UNSUPPORTED, "{\"dtype\": [[\"a\", \"|O\"]]}", "|O"},
        {2, CUBED_E_FORMAT, "{\"dtype\": [[\"a\", \"<f4\"], [\"a\", \"<f4\"]]}", "have the name"},
        {2, CUBED_E_FORMAT, "{\"dtype\": 4}", "\"dtype\""},
        {2, CUBED_E_FORMAT, "{\"shape\": [10]}",
         "\"chunks\" has 2 entries and \"shape\" 1, expected equal numbers"},
        {2, CUBED_E_FORMAT, "{\"shape\": [10, -1]}", "is -1"},
        {2, CUBED_E_FORMAT, "{\"shape\": [10, 2.0]}", "\"shape\"[1]"},
        {2, CUBED_E_FORMAT, "{\"shape\": [10, 99999999999999999999]}", "more than 64 bits"},
        {2, CUBED_E_FORMAT, "{\"shape\": 10}", "\"shape\" must be a list"},
        {2, CUBED_E_FORMAT, "{\"chunks\": [0, 6]}", "\"chunks\"[0] is 0"},
        {2, CUBED_E_FORMAT, "{\"chunks\": true}", "\"chunks\""},
        {2, CUBED_E_FORMAT, "{\"shape\": [4294967296, 4294967296]}", "2**61"},
        {2, CUBED_E_FORMAT, "{\"chunks\": [4294967296, 4294967296]}", "2**61"},
        {2, CUBED_E_FORMAT, "{\"order\": \"K\"}", "\"order\" is \"K\""},
        {2, CUBED_E_FORMAT, "{\"dimension_separator\": \"|\"}", "\"dimension_separator\""},
        {2, CUBED_E_UNSUPPORTED, "{\"filters\": [{\"id\": \"vlen-utf8\"}]}", "\"vlen-utf8\""},
        {2, CUBED_E_FORMAT, "{\"filters\": {\"id\": \"vlen-utf8\"}}", "\"filters\""},
        {2, CUBED_E_UNSUPPORTED, "{\"compressor\": {\"id\": \"jpeg2k\"}}", "\"jpeg2k\""},
        {2, CUBED_E_FORMAT, "{\"compressor\": \"zstd\"}", "\"id\""},
        {2, CUBED_E_FORMAT, "{\"compressor\": {\"id\": \"zlib\", \"level\": 10}}", "10"},
        {2, CUBED_E_FORMAT, "{\"fill_value\": \"abc\"}", "\"abc\" is not a valid float32"},
        {2, CUBED_E_FORMAT, "{\"fill_value\": \"AAAAAA==\"}", "is not a valid float32"},
        {3, CUBED_E_FORMAT, "{\"zarr_format\": 2}", "\"zarr_format\" is 2"},
        {3, CUBED_E_FORMAT, "{\"node_type\": \"group\"}", "\"node_type\" is \"group\""},
        {3, CUBED_E_UNSUPPORTED, "{\"data_type\": \"float128\"}", "\"float128\""},
        {3, CUBED_E_FORMAT,
         "{\"data_type\": {\"name\": \"numpy.datetime64\", \"configuration\": {}}}", "\"unit\""},
        {3, CUBED_E_UNSUPPORTED,
         "{\"data_type\": {\"name\": \"int8\", \"configuration\": {\"a\": 1}}}", "int8"},
        {3, CUBED_E_FORMAT, "{\"data_type\": null}", "\"data_type\""},
        {3, CUBED_E_FORMAT, "{\"chunk_grid\": \"-\"}", "\"name\""},
        {3, CUBED_E_UNSUPPORTED, "{\"chunk_grid\": {\"name\": \"rectangular\"}}", "rectangular"},
        {3, CUBED_E_FORMAT,
         "{\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [0, "
         "1]}}}",
         "\"chunk_shape\"[0] is 0"},
        {3, CUBED_E_FORMAT,
         "{\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [1]}}}",
         "\"chunk_shape\" has 1"},
        {3, CUBED_E_UNSUPPORTED, "{\"chunk_key_encoding\": {\"name\": \"hash\"}}", "hash"},
        {3, CUBED_E_FORMAT,
         "{\"chunk_key_encoding\": {\"name\": \"v2\", \"configuration\": {\"separator\": 1}}}",
         "\"separator\""},
        {3, CUBED_E_FORMAT, "{\"fill_value\": \"-\"}", "\"fill_value\" is missing"},
        {3, CUBED_E_FORMAT, "{\"fill_value\": null}", "fill value"},
        {3, CUBED_E_FORMAT, "{\"codecs\": \"-\"}", "\"codecs\""},
        {3, CUBED_E_FORMAT, "{\"codecs\": []}", "\"bytes\""},
        {3, CUBED_E_FORMAT,
         "{\"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
         "{\"name\": \"sharding_indexed\"}]}",
         "sharding_indexed"},
        {3, CUBED_E_FORMAT, "{\"dimension_names\": [\"x\"]}", "\"dimension_names\""},
        {3, CUBED_E_FORMAT, "{\"dimension_names\": [\"x\", 1]}", "\"dimension_names\"[1]"},
        {3, CUBED_E_FORMAT, "{\"attributes\": []}", "\"attributes\""},
        {3, CUBED_E_UNSUPPORTED, "{\"storage_transformers\": [{\"name\": \"x\"}]}", "transformers"},
        {3, CUBED_E_UNSUPPORTED, "{\"storage_transformers\": {\"name\": \"x\"}}", "transformers"},
        {3, CUBED_E_UNSUPPORTED, "{\"extra\": {\"name\": \"x\"}}", "\"extra\""},
        {3, CUBED_E_UNSUPPORTED, "{\"extra\": {\"must_understand\": true}}", "\"extra\""},
        {3, CUBED_E_UNSUPPORTED, "{\"extra\": null}", "\"extra\""},
    };
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        parsed p;
        parse_changed(&p, docs[i].format, docs[i].changes);
        if (p.status != docs[i].status)
            fail_msg("v%d %s: %s: %s", docs[i].format, docs[i].changes, cubed_status_str(p.status),
                     p.err.message);
        /* The message names the document and the fault in it. */
        if (!strstr(p.err.message, docs[i].says) || strncmp(p.err.message, "u/", 2) != 0)
            fail_msg("v%d %s: \"%s\" does not say %s", docs[i].format, docs[i].changes,
                     p.err.message, docs[i].says);
        cb_zone_free(p.zone);
    }
}

static void test_too_many_dimensions(void **state)
{
    (void)state;
    for (int n = CUBED_MAX_NDIM; n <= CUBED_MAX_NDIM + 1; n++) {
        parsed p;
        json_t *doc = json(good_v2), *ones = json_array();
        for (int d = 0; d < n; d++) json_array_append_new(ones, json_integer(1));
        json_object_set(doc, "shape", ones);
        json_object_set_new(doc, "chunks", ones);
        json_object_set_new(doc, "order", json_string("F"));
        parse_docs(&p, 2, doc, NULL);
        assert_int_equal(p.status, n <= CUBED_MAX_NDIM ? CUBED_OK : CUBED_E_UNSUPPORTED);
        if (p.status == CUBED_OK) expect_round_trip(&p.meta);
        json_decref(doc);
        cb_zone_free(p.zone);
    }
}

static void test_not_objects(void **state)
{
    (void)state;
    static const char *const texts[] = {"[]", "null", "1", "\"a\"", "{}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (int format = 2; format <= 3; format++) {
            parsed p;
            json_t *doc = json(texts[i]);
            parse_docs(&p, format, doc, NULL);
            assert_int_equal(p.status, CUBED_E_FORMAT);
            json_decref(doc);
            cb_zone_free(p.zone);
        }
    }
    parsed p;
    json_t *doc = json(good_v2), *zattrs = json("[1]");
    parse_docs(&p, 2, doc, zattrs);
    assert_int_equal(p.status, CUBED_E_FORMAT);
    json_decref(doc);
    json_decref(zattrs);
    cb_zone_free(p.zone);
}

/* Tests each type by its name in format 2 and in format 3. */
static void test_types(void **state)
{
    (void)state;
    static const char *const codes[CUBED_DTYPE_COUNT] = {
        "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8", "<c8", "<c16"};
    for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
        char change[64];
        parsed p;
        json_t *doc, *zattrs;
        snprintf(change, sizeof change, "{\"dtype\": \"%s\"}", codes[t]);
        expect_ok(&p, 2, change);
        assert_int_equal(p.meta.dtype, t);
        print_docs(&p.meta, &doc, &zattrs);
        assert_string_equal(json_string_value(json_object_get(doc, "dtype")), codes[t]);
        json_decref(doc);
        json_decref(zattrs);
        cb_zone_free(p.zone);
        snprintf(change, sizeof change, "{\"data_type\": \"%s\", \"fill_value\": %s}",
                 cubed_dtype_name((cubed_dtype)t), t == CUBED_BOOL ? "false" : "0");
        expect_ok(&p, 3, change);
        assert_int_equal(p.meta.dtype, t);
        expect_round_trip(&p.meta);
        cb_zone_free(p.zone);
    }
    /* A big-endian array stays big-endian. */
    parsed p;
    expect_ok(&p, 2, "{\"dtype\": \">c16\"}");
    assert_true(p.meta.big_endian);
    assert_int_equal(p.meta.codecs.step[0].ctx.unit_size, 8);
    assert_false(cb_codec_chain_is_raw(&p.meta.codecs));
    json_t *doc, *zattrs;
    print_docs(&p.meta, &doc, &zattrs);
    assert_string_equal(json_string_value(json_object_get(doc, "dtype")), ">c16");
    json_decref(doc);
    json_decref(zattrs);
    cb_zone_free(p.zone);
}

static bool fill_of(const char *text, cubed_dtype dtype, cubed_scalar *out)
{
    cubed_error err = CUBED_ERROR_INIT;
    json_t *v = json(text);
    cubed_status st = cb_fill_parse("u", v, dtype, out, &err);
    json_decref(v);
    if (st != CUBED_OK) {
        assert_int_equal(st, CUBED_E_FORMAT);
        assert_non_null(strstr(err.message, cubed_dtype_name(dtype)));
        return false;
    }
    /* After printing and parsing, the fill value has the same bits. */
    cubed_scalar again;
    v = cb_fill_print(dtype, out, 3);
    assert_int_equal(cb_fill_parse("u", v, dtype, &again, NULL), CUBED_OK);
    json_decref(v);
    assert_memory_equal(out, &again, cubed_dtype_size(dtype));
    return true;
}

static void test_integer_fills(void **state)
{
    (void)state;
    static const struct {
        cubed_dtype dtype;
        const char *good[6], *wrong[8];
    } types[] = {
        {CUBED_INT8, {"-128", "127", "1.0", "-0.0", "true"}, {"-129", "128", "0.5", "1e30"}},
        {CUBED_UINT8, {"0", "255", "255.0"}, {"-1", "256", "-1.0", "\"1\"", "null", "[1]"}},
        {CUBED_INT16, {"-32768", "32767"}, {"-32769", "32768"}},
        {CUBED_UINT16, {"65535"}, {"65536", "-1"}},
        {CUBED_INT32, {"-2147483648", "2147483647"}, {"2147483648", "-2147483649"}},
        {CUBED_UINT32, {"4294967295"}, {"4294967296", "-1", "\"NaN\""}},
        {CUBED_INT64,
         {"-9223372036854775808", "9223372036854775807", "-9223372036854775808.0"},
         {"9223372036854775808", "-9223372036854775809", "9223372036854775808.0", "1e300", "NaN",
          "Infinity"}},
        {CUBED_UINT64,
         {"0", "9223372036854775808", "18446744073709551615", "9223372036854775808.0"},
         {"-1", "18446744073709551616", "-9223372036854775809", "1.8446744073709552e19", "-1.0",
          "\"18446744073709551615\""}},
        {CUBED_BOOL, {"true", "false", "0", "1"}, {"2", "-1", "\"true\"", "1.0", "null"}},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        cubed_scalar v;
        for (int k = 0; k < 6 && types[i].good[k]; k++) {
            if (!fill_of(types[i].good[k], types[i].dtype, &v))
                fail_msg("%s as %s", types[i].good[k], cubed_dtype_name(types[i].dtype));
        }
        for (int k = 0; k < 8 && types[i].wrong[k]; k++) {
            if (fill_of(types[i].wrong[k], types[i].dtype, &v))
                fail_msg("%s as %s", types[i].wrong[k], cubed_dtype_name(types[i].dtype));
        }
    }
    cubed_scalar v;
    assert_true(fill_of("18446744073709551615", CUBED_UINT64, &v) && v.u64 == UINT64_MAX);
    assert_true(fill_of("9223372036854775808.0", CUBED_UINT64, &v) && v.u64 == (uint64_t)1 << 63);
    assert_true(fill_of("-9223372036854775808", CUBED_INT64, &v) && v.i64 == INT64_MIN);
    assert_true(fill_of("-128", CUBED_INT8, &v) && v.i8 == -128);
}

static void test_real_fills(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "\"nan\"",        "\"\"", "\"0x\"", "\"0x7fc0000\"", "null", "\"0x7fc0000g\"",
        "\"0X7fc00000\"", "true", "[0]",    "[0, 0, 0]",     "{}",   "\"+Infinity\"",
        "\"0x7fc000000\""};
    cubed_scalar v;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(fill_of(wrong[i], CUBED_FLOAT32, &v));
        assert_false(fill_of(wrong[i], CUBED_COMPLEX64, &v));
    }
    assert_false(fill_of("[0, 0]", CUBED_FLOAT64, &v));
    assert_true(fill_of("\"NaN\"", CUBED_FLOAT32, &v) && isnan(v.f32));
    assert_true(fill_of("NaN", CUBED_FLOAT64, &v) && isnan(v.f64));
    assert_true(fill_of("-Infinity", CUBED_FLOAT64, &v) && isinf(v.f64) && v.f64 < 0);
    assert_true(fill_of("\"Infinity\"", CUBED_FLOAT32, &v) && isinf(v.f32) && v.f32 > 0);
    assert_true(fill_of("\"0x7fc00000\"", CUBED_FLOAT32, &v) && isnan(v.f32));
    assert_true(fill_of("\"0x3F800000\"", CUBED_FLOAT32, &v) && v.f32 == 1.0f);
    assert_true(fill_of("\"0x3ff8000000000000\"", CUBED_FLOAT64, &v) && v.f64 == 1.5);
    /* All bits of a NaN are preserved, including those of a signalling NaN. */
    assert_true(fill_of("\"0xff800001\"", CUBED_FLOAT32, &v) && v.u32 == 0xff800001);
    assert_true(fill_of("\"0x7c01\"", CUBED_FLOAT16, &v) && v.u16 == 0x7c01);
    assert_true(fill_of("\"NaN\"", CUBED_BFLOAT16, &v) && v.u16 == 0x7fc0);
    assert_true(fill_of("[\"0x7fc00001\", \"NaN\"]", CUBED_COMPLEX64, &v) && v.u32 == 0x7fc00001 &&
                v.u64 >> 32 == 0x7fc00000);
    cb_fill_for_v2(CUBED_COMPLEX64, &v);
    assert_true(v.u64 == 0x7fc000007fc00000);
    assert_true(fill_of("0.1", CUBED_FLOAT64, &v) && v.f64 == 0.1);
    assert_true(fill_of("0.1", CUBED_FLOAT32, &v) && v.f32 == 0.1f);
    assert_true(fill_of("-0.0", CUBED_FLOAT64, &v) && signbit(v.f64));
    assert_true(fill_of("5e-324", CUBED_FLOAT64, &v) && v.f64 == 5e-324);
    assert_true(fill_of("18446744073709551616", CUBED_FLOAT64, &v) && v.f64 == 0x1p64);
    assert_true(fill_of("[\"NaN\", -1]", CUBED_COMPLEX64, &v) && isnan(v.c64[0]) &&
                v.c64[1] == -1.0f);
    assert_true(fill_of("[1.5, \"-Infinity\"]", CUBED_COMPLEX128, &v) && v.c128[0] == 1.5 &&
                isinf(v.c128[1]));
    assert_true(fill_of("3", CUBED_COMPLEX128, &v) && v.c128[0] == 3 && v.c128[1] == 0);
    assert_true(fill_of("[\"0x3ff8000000000000\", 0]", CUBED_COMPLEX128, &v) && v.c128[0] == 1.5);
}

/* _ARRAY_DIMENSIONS gives the names if possible; otherwise it stays an attribute. */
static void test_v2_dimension_names(void **state)
{
    (void)state;
    static const struct {
        const char *zattrs;
        const char *first;
        const char *attrs;
    } docs[] = {
        {"{\"_ARRAY_DIMENSIONS\": [\"t\", \"x\"], \"a\": 1}", "t", "{\"a\": 1}"},
        {"{\"_ARRAY_DIMENSIONS\": [\"t\"]}", NULL, "{\"_ARRAY_DIMENSIONS\": [\"t\"]}"},
        {"{\"_ARRAY_DIMENSIONS\": [\"t\", 1]}", NULL, "{\"_ARRAY_DIMENSIONS\": [\"t\", 1]}"},
        {"{\"_ARRAY_DIMENSIONS\": \"tx\"}", NULL, "{\"_ARRAY_DIMENSIONS\": \"tx\"}"},
        {"{}", NULL, "{}"},
    };
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        parsed p;
        json_t *doc = json(good_v2), *zattrs = json(docs[i].zattrs), *out, *out_attrs;
        parse_docs(&p, 2, doc, zattrs);
        assert_int_equal(p.status, CUBED_OK);
        assert_int_equal(p.meta.dim_names[0] == NULL, docs[i].first == NULL);
        if (docs[i].first) assert_string_equal(p.meta.dim_names[0], docs[i].first);
        assert_string_equal(p.meta.attrs, docs[i].attrs);
        print_docs(&p.meta, &out, &out_attrs);
        assert_true(json_equal(zattrs, out_attrs));
        json_decref(out);
        json_decref(out_attrs);
        json_decref(doc);
        json_decref(zattrs);
        cb_zone_free(p.zone);
    }
    /* An array without axes has no dimension names. Readers of format 2 require an empty list of names. */
    parsed p;
    json_t *out, *out_attrs;
    expect_ok(&p, 2, "{\"shape\": [], \"chunks\": []}");
    print_docs(&p.meta, &out, &out_attrs);
    assert_true(json_is_array(json_object_get(out_attrs, "_ARRAY_DIMENSIONS")));
    json_decref(out);
    json_decref(out_attrs);
    cb_zone_free(p.zone);
}

/* Attributes are read back unchanged: order, kinds of numbers, digits, letters. */
static void test_attributes_are_kept(void **state)
{
    (void)state;
    static const char attrs[] =
        "{\"z\": 1, \"a\": 1.0, \"big\": 18446744073709551615, \"low\": -9223372036854775809, "
        "\"min\": -9223372036854775808, \"text\": \"k\u00f8benhavn \\\"x\\\\\", \"nested\": "
        "{\"list\": [true, null, [1e+300]]}}";
    char change[512];
    parsed p;
    snprintf(change, sizeof change, "{\"attributes\": %s}", attrs);
    expect_ok(&p, 3, change);
    assert_string_equal(p.meta.attrs, "{\"z\": 1, \"a\": 1.0, \"big\": 18446744073709551615, "
                                      "\"low\": -9223372036854775809, \"min\": "
                                      "-9223372036854775808, \"text\": \"k\u00f8benhavn "
                                      "\\\"x\\\\\", \"nested\": {\"list\": [true, null, "
                                      "[1.0000000000000001e300]]}}");
    expect_round_trip(&p.meta);
    cb_zone_free(p.zone);
    /* NaN and Infinity are not JSON, but Python writes them. They become strings; text that looks similar is unchanged. */
    expect_ok(
        &p, 3,
        "{\"attributes\": {\"a\": NaN, \"b\": [-Infinity], \"c\": \"NaN, 99999999999999999999 "
        "\\\" -Infinity\"}}");
    assert_string_equal(p.meta.attrs, "{\"a\": \"NaN\", \"b\": [\"-Infinity\"], \"c\": \"NaN, "
                                      "99999999999999999999 \\\" -Infinity\"}");
    cb_zone_free(p.zone);
}

static void test_defaults(void **state)
{
    (void)state;
    for (int format = 2; format <= 3; format++) {
        cb_zarr_meta m = {.format = format,
                          .dtype = CUBED_INT16,
                          .ndim = 2,
                          .shape = {5, 6},
                          .chunk = {2, 3},
                          .big_endian = true,
                          .order_f = true};
        cubed_error err = CUBED_ERROR_INIT;
        assert_int_equal(cb_zarr_meta_defaults(&m, NULL, NULL, NULL), CUBED_OK);
        cb_codec_chain_fix(&m.codecs);
        assert_int_equal(m.separator, format == 2 ? '.' : '/');
        assert_int_equal(m.v2_keys, format == 2);
        assert_string_equal(m.attrs, "{}");
        assert_int_equal(cb_zarr_chunk_bytes(&m), 12);
        assert_string_equal(m.codecs.step[m.codecs.all.n - 1].vt->name, "zstd");
        assert_int_equal(m.fill_is_null, format == 2);
        expect_round_trip(&m);
        m.attrs = "[1]";
        assert_int_equal(cb_zarr_meta_defaults(&m, NULL, NULL, &err), CUBED_E_ARG);
        m.attrs = "{";
        assert_int_equal(cb_zarr_meta_defaults(&m, NULL, NULL, &err), CUBED_E_FORMAT);
        m.attrs = NULL;
        m.dim_names[1] = "\xff";
        assert_int_equal(cb_zarr_meta_defaults(&m, NULL, NULL, &err), CUBED_E_ARG);
        m.dim_names[1] = NULL;
        assert_int_equal(cb_zarr_meta_defaults(&m, NULL, "not json", &err), CUBED_E_FORMAT);
        assert_int_equal(
            cb_zarr_meta_defaults(&m, NULL, format == 2 ? "null" : "[\"bytes\"]", &err),
            format == 2 ? CUBED_OK : CUBED_E_FORMAT);
        m.dtype = CUBED_BOOL;
        assert_int_equal(
            cb_zarr_meta_defaults(&m, NULL, format == 2 ? "null" : "[\"bytes\"]", &err), CUBED_OK);
        assert_true(cb_codec_chain_is_raw(&m.codecs));
    }
    cb_zarr_meta m = {.format = 4};
    assert_int_equal(cb_zarr_meta_defaults(&m, NULL, NULL, NULL), CUBED_E_ARG);
}

/* Tests a document of format 3. Elements have one byte, so no byte order is written. */
static void test_v3_document(void **state)
{
    (void)state;
    cb_zarr_meta m = {.format = 3,
                      .dtype = CUBED_UINT8,
                      .ndim = 1,
                      .shape = {5},
                      .chunk = {2},
                      .fill = {.u8 = 7}};
    json_t *doc = NULL;
    cb_zone *zone;
    const char *text;
    m.dim_names[0] = "x";
    assert_int_equal(cb_zarr_meta_defaults(&m, NULL, NULL, NULL), CUBED_OK);
    cb_codec_chain_fix(&m.codecs);
    assert_int_equal(cb_zarr_print_v3(&m, &doc, NULL), CUBED_OK);
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    assert_int_equal(cb_json_text(doc, zone, &text, NULL), CUBED_OK);
    assert_string_equal(
        text, "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [5], \"data_type\": "
              "\"uint8\", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": "
              "{\"chunk_shape\": [2]}}, \"chunk_key_encoding\": {\"name\": \"default\", "
              "\"configuration\": {\"separator\": \"/\"}}, \"fill_value\": 7, \"codecs\": "
              "[{\"name\": \"bytes\"}, {\"name\": \"zstd\", \"configuration\": {\"level\": 1, "
              "\"checksum\": false}}], \"attributes\": {}, \"dimension_names\": [\"x\"]}");
    json_decref(doc);
    cb_zone_free(zone);
}

/* --- No memory for JSON ------------------------------------------------------------------------------- */

/* number of Jansson's allocations that succeed before one fails; negative: all succeed */
static int until;

static void *json_malloc(size_t size) { return until-- == 0 ? NULL : malloc(size); }

/* If memory runs out, metadata is printed completely or not at all. Without its attributes, the array would have another
 * meaning. */
static void test_documents_are_never_partial(void **state)
{
    static const struct {
        int format;
        const char *changes, *attrs;
    } cases[] = {
        {3,
         "{\"dimension_names\": [\"y\", null], \"attributes\": {\"a\": [1, {\"b\": 2}], \"units\": "
         "\"K\"}}",
         NULL},
        {3,
         "{\"chunk_grid\": {\"name\": \"rectilinear\", \"configuration\": {\"kind\": \"inline\", "
         "\"chunk_shapes\": [[4, [3, 2]], 6]}}}",
         NULL},
        {3,
         "{\"data_type\": \"complex64\", \"fill_value\": [1.5, \"NaN\"], \"codecs\": [{\"name\": "
         "\"sharding_indexed\", \"configuration\": {\"chunk_shape\": [2, 3], \"codecs\": "
         "[{\"name\": "
         "\"transpose\", \"configuration\": {\"order\": [1, 0]}}, {\"name\": \"bytes\", "
         "\"configuration\": "
         "{\"endian\": \"little\"}}], \"index_codecs\": [{\"name\": \"bytes\", \"configuration\": "
         "{\"endian\": \"little\"}}, {\"name\": \"crc32c\"}]}}]}",
         NULL},
        {2,
         "{\"order\": \"F\", \"filters\": [{\"id\": \"shuffle\", \"elementsize\": 4}], "
         "\"compressor\": "
         "{\"id\": \"zlib\", \"level\": 1}}",
         "{\"_ARRAY_DIMENSIONS\": [\"y\", \"x\"], \"units\": \"K\", \"a\": {\"b\": [1, 2]}}"},
        {2, "{\"shape\": [], \"chunks\": []}", "{}"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const bool is_v2 = cases[k].format == 2;
        json_t *good = changed(is_v2 ? good_v2 : good_v3, cases[k].changes);
        json_t *zattrs = is_v2 ? json(cases[k].attrs) : NULL, *want[2] = {NULL, NULL};
        parsed p;
        parse_docs(&p, cases[k].format, good, zattrs);
        if (p.status != CUBED_OK) fail_msg("%s: %s", cases[k].changes, p.err.message);
        for (int n = -1;; n++) { /* -1: nothing fails */
            json_t *doc[2] = {NULL, NULL};
            cubed_error err = CUBED_ERROR_INIT;
            json_set_alloc_funcs(json_malloc, free);
            until = n;
            const cubed_status st = is_v2 ? cb_zarr_print_v2(&p.meta, &doc[0], &doc[1], &err)
                                          : cb_zarr_print_v3(&p.meta, &doc[0], &err);
            const bool all = until >= 0;
            until = -1;
            json_set_alloc_funcs(malloc, free);
            if (n < 0) {
                assert_int_equal(st, CUBED_OK);
                want[0] = doc[0];
                want[1] = doc[1];
                continue;
            }
            for (int i = 0; i < 2 && st == CUBED_OK; i++) {
                if (want[i] && !json_equal(doc[i], want[i]))
                    fail_msg("%s: allocation %d: document %d is partial", cases[k].changes, n, i);
            }
            if (st != CUBED_OK && (all || doc[0] || doc[1]))
                fail_msg("%s: allocation %d: %s", cases[k].changes, n, err.message);
            json_decref(doc[0]);
            json_decref(doc[1]);
            if (all) break;
        }
        json_decref(want[0]);
        json_decref(want[1]);
        json_decref(good);
        json_decref(zattrs);
        cb_zone_free(p.zone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents_are_never_partial),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_many_dimensions),
        cmocka_unit_test(test_not_objects),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_integer_fills),
        cmocka_unit_test(test_real_fills),
        cmocka_unit_test(test_v2_dimension_names),
        cmocka_unit_test(test_attributes_are_kept),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_v3_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
