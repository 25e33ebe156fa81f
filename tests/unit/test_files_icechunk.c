/* Repositories of Icechunk: names of snapshots in one object, chunks that lie elsewhere, and what is malformed. The objects
 * are FlatBuffers that the test builds, not compressed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "files_test.h"

enum { SNAPSHOT = 1, MANIFEST = 2, REPO = 6, HEADER = 39, ID = 12 };

/* --- FlatBuffers: tables follow the references to them, and slots are filled when their position is known ------------- */

typedef struct flat {
    uint8_t at[4096];
    size_t n; /* number of bytes so far; the header of the object precedes them */
} flat;

static void begin(flat *b, int type)
{
    memset(b, 0, sizeof *b);
    memcpy(b->at,
           "ICE\xf0\x9f\xa7\x8a"
           "CHUNK",
           12);
    b->at[36] = 2;
    b->at[37] = (uint8_t)type;
    b->n = HEADER + 4; /* leave room for the position of the root table */
}

/* Makes the four bytes at `slot` refer to the end of the buffer. */
static void lead_here(flat *b, size_t slot) { cb_le_put(b->at + slot, b->n - slot, 4); }

/* Adds a table whose fields have the given sizes; 0 means that a field is missing. Stores the position of the table at `slot`,
 * and the positions of the fields in `fields`. */
static void put_table(flat *b, size_t slot, int n, const int *sizes, size_t *fields)
{
    const size_t vtable = b->n, table = vtable + 4 + 2 * (size_t)n;
    size_t at = 4;
    cb_le_put(b->at + vtable, 4 + 2 * (uint64_t)n, 2);
    for (int i = 0; i < n; i++) {
        fields[i] = table + at;
        cb_le_put(b->at + vtable + 4 + 2 * (size_t)i, sizes[i] ? at : 0, 2);
        at += (size_t)sizes[i];
    }
    cb_le_put(b->at + vtable + 2, at, 2);
    cb_le_put(b->at + table, table - vtable, 4);
    b->n = table;
    lead_here(b, slot);
    b->n = table + at;
    assert_true(b->n < sizeof b->at);
}

/* Adds a list of n elements; returns the position of the first. */
static size_t put_list(flat *b, size_t slot, const void *bytes, size_t size, size_t n)
{
    lead_here(b, slot);
    cb_le_put(b->at + b->n, n, 4);
    const size_t at = b->n + 4;
    if (bytes) memcpy(b->at + at, bytes, n * size);
    b->n = at + n * size;
    assert_true(b->n < sizeof b->at);
    return at;
}

static void put_text(flat *b, size_t slot, const char *text)
{
    (void)put_list(b, slot, text, 1, strlen(text));
}

static void put_object(cubed_store *s, const char *key, const flat *b)
{
    put_bytes(s, key, b->at, b->n);
}

/* --- A repository ----------------------------------------------------------------------------------------- */

/* IDs of objects in bytes, and the names of the objects: the same IDs as twenty digits of five bits. */
static const uint8_t snapshot_id[ID] = {0}, manifest_id[ID] = {0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t chunk_id[ID] = {0x08, 0x42, 0x10, 0x84, 0x21};
#define SNAPSHOT_KEY "snapshots/00000000000000000000"
#define MANIFEST_KEY "manifests/ZZZZZZZZ000000000000"
#define CHUNK_KEY    "chunks/11111111000000000000"

/* Branch "main" and tag "v1" are snapshot 0, and branch "lost" is one that is not listed. */
static void put_repo(cubed_store *s)
{
    static const int root_sizes[] = {0, 4, 4, 0, 4}, ref_sizes[] = {4, 4}, info_sizes[] = {ID};
    static const char *const branches[] = {"main", "lost"};
    size_t root[5], ref[2], info[1];
    flat b;
    begin(&b, REPO);
    put_table(&b, HEADER, 5, root_sizes, root);
    size_t list = put_list(&b, root[1], NULL, 4, 1);
    put_table(&b, list, 2, ref_sizes, ref);
    put_text(&b, ref[0], "v1");
    list = put_list(&b, root[2], NULL, 4, 2);
    for (size_t i = 0; i < 2; i++) {
        put_table(&b, list + 4 * i, 2, ref_sizes, ref);
        cb_le_put(b.at + ref[1], 7 * i, 4);
        put_text(&b, ref[0], branches[i]);
    }
    list = put_list(&b, root[4], NULL, 4, 1);
    put_table(&b, list, 1, info_sizes, info);
    memcpy(b.at + info[0], snapshot_id, ID);
    put_object(s, "repo", &b);
}

#define GROUP "{\"zarr_format\": 3, \"node_type\": \"group\"}"
#define ARRAY "{\"zarr_format\": 3, \"node_type\": \"array\"}"

/* The root, and array "x" of two axes whose chunks are in one manifest. */
static void put_snapshot(cubed_store *s, const char *path)
{
    static const int root_sizes[] = {0, 0, 4}, node_sizes[] = {8, 4, 4, 1, 4};
    static const int array_sizes[] = {0, 0, 4}, manifest_sizes[] = {ID, 4};
    static const uint8_t extents[16] = {0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 9};
    size_t root[3], node[5], array[3], manifest[2];
    flat b;
    begin(&b, SNAPSHOT);
    put_table(&b, HEADER, 3, root_sizes, root);
    const size_t nodes = put_list(&b, root[2], NULL, 4, 2);
    put_table(&b, nodes + 4, 5, node_sizes, node);
    put_text(&b, node[1], path);
    put_text(&b, node[2], ARRAY);
    memcpy(b.at + node[0], "node x..", 8);
    b.at[node[3]] = 1;
    put_table(&b, node[4], 3, array_sizes, array);
    const size_t list = put_list(&b, array[2], NULL, 4, 1);
    put_table(&b, list, 2, manifest_sizes, manifest);
    memcpy(b.at + manifest[0], manifest_id, ID);
    (void)put_list(&b, manifest[1], extents, 8, 2);
    put_table(&b, nodes, 5, node_sizes, node);
    put_text(&b, node[1], "/");
    put_text(&b, node[2], GROUP);
    memcpy(b.at + node[0], "the root", 8);
    put_object(s, SNAPSHOT_KEY, &b);
}

/* Reference to one chunk of "x", number (1, 2). Only fields that are not zero are written. */
typedef struct reference {
    const char *inside, *location, *etag, *owner;
    uint64_t offset, length, modified;
    bool chunk, packed;
} reference;

static void put_manifest(cubed_store *s, reference r)
{
    static const int root_sizes[] = {0, 4}, array_sizes[] = {8, 4};
    static const uint8_t index[8] = {1, 0, 0, 0, 2};
    const int sizes[] = {
        4, r.inside ? 4 : 0, 8, 8, r.chunk ? ID : 0, r.location ? 4 : 0, r.etag ? 4 : 0,
        4, r.packed ? 4 : 0};
    size_t root[2], array[2], ref[9];
    flat b;
    begin(&b, MANIFEST);
    put_table(&b, HEADER, 2, root_sizes, root);
    size_t list = put_list(&b, root[1], NULL, 4, 1);
    put_table(&b, list, 2, array_sizes, array);
    memcpy(b.at + array[0], r.owner ? r.owner : "node x..", 8);
    list = put_list(&b, array[1], NULL, 4, 1);
    put_table(&b, list, 9, sizes, ref);
    (void)put_list(&b, ref[0], index, 4, 2);
    cb_le_put(b.at + ref[2], r.offset, 8);
    cb_le_put(b.at + ref[3], r.length, 8);
    cb_le_put(b.at + ref[7], r.modified, 4);
    if (r.inside) put_text(&b, ref[1], r.inside);
    if (r.chunk) memcpy(b.at + ref[4], chunk_id, ID);
    if (r.location) put_text(&b, ref[5], r.location);
    if (r.etag) put_text(&b, ref[6], r.etag);
    if (r.packed) put_text(&b, ref[8], "packed");
    put_object(s, MANIFEST_KEY, &b);
}

static cubed_store *repository(reference r)
{
    cubed_store *s = memory_store(&cb_system_allocator);
    put_repo(s);
    put_snapshot(s, "/x");
    put_manifest(s, r);
    return s;
}

static cubed_store *open_ref(cb_stores *stores, cubed_store *within, const char *ref)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_store *s = NULL;
    if (cb_file_open(stores, within, ref, "memory://t", &s, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    return s;
}

static void expect_no_ref(cb_stores *stores, cubed_store *within, const char *ref,
                          cubed_status status, const char *part)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_store *s = NULL;
    const cubed_status st = cb_file_open(stores, within, ref, "memory://t", &s, &err);
    if (st != status || !strstr(err.message, part)) fail_msg("%s: %d, %s", ref, st, err.message);
}

/* --- Tests ------------------------------------------------------------------------------------------------ */

static void test_names_in_one_object(void **state)
{
    static const char *const refs[] = {"@branch.main", "@tag.v1", "@snapshot.00000000000000000000"};
    static const char *const none[] = {"@branch.v1", "@tag.main", "@branch.lost", "@snapshot.0",
                                       "@snapshot.0000000000000000000U"};
    for (size_t i = 0; i < sizeof refs / sizeof *refs; i++) {
        cubed_store *s = open_ref(*state, repository((reference){.inside = "abc"}), refs[i]);
        expect_object(s, "zarr.json", GROUP, strlen(GROUP));
        expect_object(s, "x/zarr.json", ARRAY, strlen(ARRAY));
        expect_object(s, "x/c/1/2", "abc", 3);
        expect_failure(s, "x/c/2/1", CUBED_E_NOT_FOUND, "has no x/c/2/1");
        expect_failure(s, "y/zarr.json", CUBED_E_NOT_FOUND, "has no y/zarr.json");
        expect_keys(s, "", "zarr.json x/zarr.json x/c/1/2 ");
        /* A name may later refer to another snapshot; the opened store keeps the one that was found. */
        assert_non_null(strstr(cb_file_fixed_url(s), "@snapshot.00000000000000000000"));
        cb_store_close(s);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        expect_no_ref(*state, repository((reference){.inside = "abc"}), none[i], CUBED_E_NOT_FOUND,
                      "in this Icechunk repository");
}

static void test_own_chunks(void **state)
{
    cubed_store *within = repository((reference){.chunk = true, .offset = 2, .length = 3});
    put_bytes(within, CHUNK_KEY, "abcdefgh", 8);
    cubed_store *s = open_ref(*state, within, "@tag.v1");
    expect_object(s, "x/c/1/2", "cde", 3);
    put_bytes(within, CHUNK_KEY, "abcd", 4);
    expect_failure(s, "x/c/1/2", CUBED_E_FORMAT, "is truncated: it ends before this data");
    assert_int_equal(cb_store_del(within, CHUNK_KEY, NULL), CUBED_OK);
    expect_failure(s, "x/c/1/2", CUBED_E_FORMAT, "which does not exist");
    cb_store_close(s);
}

/* A chunk may be in an object of another store. That store is opened when a plan is made. */
static void test_chunks_elsewhere(void **state)
{
    const int64_t lo[2] = {0, 0}, hi[2] = {4, 4};
    cubed_store *other;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cb_store_open(*state, "memory://other", false, &other, NULL), CUBED_OK);
    put_bytes(other, "a.bin", "abcdefgh", 8);
    const reference r = {.location = "memory://other/a.bin", .offset = 1, .length = 2};
    cubed_store *s = open_ref(*state, repository(r), "@branch.main");
    expect_failure(s, "x/c/1/2", CUBED_E_ARG, "expected a place in memory://t,");
    assert_int_equal(cb_file_know_chunks(s, "x", 2, lo, hi, &err), CUBED_E_ARG);
    cb_store_close(s);
    cb_net *net = &((cb_stores *)*state)->net;
    assert_int_equal(cb_net_set_option(net, "", CB_NET_REFERENCES, "memory://other", NULL), 0);
    s = open_ref(*state, repository(r), "@branch.main");
    const size_t before = cb_file_bytes(s);
    assert_true(cb_file_refers(s));
    if (cb_file_know_chunks(s, "x", 2, lo, hi, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_true(cb_file_bytes(s) > before); /* a plan counts the memory of the opened references */
    expect_object(s, "x/c/1/2", "bc", 2);
    assert_int_equal(cb_store_del(other, "a.bin", NULL), CUBED_OK);
    expect_failure(s, "x/c/1/2", CUBED_E_FORMAT, "refers to a.bin in memory://other");
    cb_store_close(s);
    cb_store_close(other);
    assert_int_equal(cb_net_set_option(net, "", CB_NET_REFERENCES, NULL, NULL), CUBED_OK);
}

static void test_places_that_are_none(void **state)
{
    static const struct {
        reference r;
        cubed_status status;
        const char *says;
    } cases[] = {
        {{.location = "a.bin"}, CUBED_E_FORMAT, "\"a.bin\" is not the URL of a file"},
        {{.location = "file:///tmp/"}, CUBED_E_FORMAT, "\"file:///tmp/\" is not the URL of a file"},
        {{.location = "memory://other/.."},
         CUBED_E_FORMAT,
         "\"memory://other/..\" is not the URL of a file"},
        {{.location = "none://other/a.bin"},
         CUBED_E_ARG,
         "refers to \"none://other/a.bin\": expected a place in memory://t"},
        {{.location = "file:///etc/passwd"},
         CUBED_E_ARG,
         "refers to \"file:///etc/passwd\", which is /etc/passwd: expected"},
        {{.packed = true}, CUBED_E_UNSUPPORTED, "compressed locations of chunks"},
        {{.length = 4}, CUBED_E_FORMAT, "a reference in a manifest has no target"},
        {{.inside = "abc", .owner = "node y.."}, CUBED_E_NOT_FOUND, "has no x/c/1/2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_store *s = open_ref(*state, repository(cases[i].r), "@tag.v1");
        expect_failure(s, "x/c/1/2", cases[i].status, cases[i].says);
        cb_store_close(s);
    }
}

static void test_malformed_objects(void **state)
{
    cubed_store *within = repository((reference){.inside = "a"}), *s;
    assert_int_equal(cb_store_del(within, MANIFEST_KEY, NULL), CUBED_OK);
    s = open_ref(*state, within, "@tag.v1");
    expect_failure(s, "x/c/1/2", CUBED_E_FORMAT, MANIFEST_KEY " does not exist");
    put_bytes(within, MANIFEST_KEY, "nothing", 7);
    expect_failure(s, "x/c/1/2", CUBED_E_FORMAT,
                   MANIFEST_KEY " is not an Icechunk object of type 2");
    cb_store_close(s);
    within = repository((reference){.inside = "a"});
    put_snapshot(within, "x");
    expect_no_ref(*state, within, "@tag.v1", CUBED_E_FORMAT, "a node of the snapshot is malformed");
    within = repository((reference){.inside = "a"});
    flat b;
    begin(&b, REPO);
    b.at[36] = 3;
    put_object(within, "repo", &b);
    expect_no_ref(*state, within, "@tag.v1", CUBED_E_UNSUPPORTED, "repo is of version 3");
    within = repository((reference){.inside = "a"});
    b.at[36] = 2;
    b.at[38] = 1;
    put_object(within, "repo", &b);
    expect_no_ref(*state, within, "@tag.v1", CUBED_E_FORMAT, "cannot be decompressed");
}

/* In the first version of the format, branches and tags are separate objects. */
static void test_names_that_are_objects(void **state)
{
    static const char doc[] = "{\"snapshot\": \"00000000000000000000\"}";
    for (int pass = 0; pass < 3; pass++) {
        cubed_store *within = repository((reference){.inside = "abc"});
        assert_int_equal(cb_store_del(within, "repo", NULL), CUBED_OK);
        put_bytes(within, "refs/branch.main/ref.json", doc, sizeof doc - 1 - (size_t)(pass == 2));
        if (pass == 1) put_bytes(within, "refs/branch.main/ref.json.deleted", "", 0);
        if (pass == 0) {
            cubed_store *s = open_ref(*state, within, "@branch.main");
            expect_object(s, "x/c/1/2", "abc", 3);
            cb_store_close(s);
        } else if (pass == 1) {
            expect_no_ref(*state, within, "@branch.main", CUBED_E_NOT_FOUND, "branch.main");
        } else {
            expect_no_ref(*state, within, "@branch.main", CUBED_E_FORMAT, "not JSON");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_in_one_object), cmocka_unit_test(test_own_chunks),
        cmocka_unit_test(test_chunks_elsewhere),    cmocka_unit_test(test_places_that_are_none),
        cmocka_unit_test(test_malformed_objects),   cmocka_unit_test(test_names_that_are_objects),
    };
    return cmocka_run_group_tests(tests, setup_stores, teardown_stores);
}
