/* Places to which references and redirects may lead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "place/confine.h"
#include "store/http/address.h"

static bool allows(cb_zone *zone, const char *document, const char *allowed, const char *parent,
                   const char *key)
{
    cb_confine c;
    cb_place at;
    cubed_error err = CUBED_ERROR_INIT;
    bool all;
    if (cb_confine_init(zone, document, allowed, &c, &err) != CUBED_OK ||
        cb_place_parse_object(zone, parent, key, &at, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    return cb_confine_allows(&c, &at, &all);
}

static void test_own_places(void **state)
{
    static const struct {
        const char *document, *parent;
        bool allowed;
    } cases[] = {
        {"https://a.org/x/r.json", "https://a.org", true},
        {"https://a.org/x/r.json", "HTTPS://A.org:443/y/../z", true},
        {"https://a.org:8443/r.json", "https://a.org:8443/y", true},
        {"https://a.org/r.json", "https://a.org:8443/y", false},
        {"https://a.org/r.json", "http://a.org", false},
        {"https://a.org/r.json", "https://a.org.evil.org", false},
        {"https://a.org/r.json", "https://evil.org/a.org", false},
        {"https://a.org/r.json", "https://a.org@evil.org", false},
        {"https://a.org/r.json", "https://a.or", false},
        {"https://a.org/r.json", "/etc", false},
        {"https://a.org/r.json", "file:///etc", false},
        {"https://a.org/r.json", "memory://a.org", false},
        {"s3://b/r.json", "s3://b/deep/er", true},
        {"s3://b/r.json", "s3://B", false},
        {"s3://b/r.json", "s3://b2", false},
        {"gcs://b/r.json", "gs://b", true},
        {"az://c/r.json", "abfs://c", true},
        {"az://c@one/r.json", "az://c@two", false},
        {"memory://m/r.json", "memory://m/y", true},
        {"/data/r.json", "/etc", true},
        {"/data/r.json", "s3://b", true},
        {"file:///data/r.json", "https://a.org", true},
    };
    cb_zone *zone;
    (void)state;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (allows(zone, cases[i].document, NULL, cases[i].parent, "k") != cases[i].allowed)
            fail_msg("%s: %s", cases[i].document, cases[i].parent);
    }
    cb_zone_free(zone);
}

static void test_allowed_prefixes(void **state)
{
    static const char document[] = "https://a.org/r.json";
    cb_zone *zone;
    cb_buf list;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    cb_buf_init(&list, &cb_system_allocator);
    assert_int_equal(cb_confine_put_prefixes("\nS3://data/era5/\n\n/usr/./lib\n", &list, &err),
                     CUBED_OK);
    assert_string_equal(list.data, "s3://data/era5\n/usr/lib");
    assert_true(allows(zone, document, list.data, "s3://data/era5", "k"));
    assert_true(allows(zone, document, list.data, "s3://data/era5/2020", "k"));
    assert_true(allows(zone, document, list.data, "s3://data", "era5"));
    assert_false(allows(zone, document, list.data, "s3://data", "era5b"));
    assert_false(allows(zone, document, list.data, "s3://data/era5/..", "k"));
    assert_true(allows(zone, document, list.data, "/usr/lib", "k"));
    assert_false(allows(zone, document, list.data, "/usr/lib/..", "k"));
    assert_false(allows(zone, document, list.data, "/usr/libexec", "k"));
    static const char *const wrong[] = {"https://", "s3:///folder"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(cb_confine_put_prefixes(wrong[i], &list, &err), CUBED_E_ARG);
        assert_non_null(strstr(err.message, "expected a path or a URL with a host"));
    }
    cb_buf_free(&list);
    cb_zone_free(zone);
}

/* A place on the document's host is limited to the document's addresses, unless the user allowed a place on that host. */
static void test_own_host_alone(void **state)
{
    static const struct {
        const char *document, *allowed, *url;
        bool own;
    } cases[] = {
        {"https://a.org/r.json", NULL, "https://a.org/x", true},
        {"https://a.org/r.json", "s3://b", "https://a.org", true},
        {"https://a.org/r.json", "https://a.org:8443", "https://a.org", true},
        {"https://a.org/r.json", "s3://b\nhttps://a.org/y", "https://a.org/x", false},
        {"https://a.org/r.json", NULL, "https://b.org/x", false},
        {"/data/r.json", NULL, "https://a.org/x", false},
    };
    cb_zone *zone;
    (void)state;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cb_confine c;
        assert_int_equal(cb_confine_init(zone, cases[i].document, cases[i].allowed, &c, NULL),
                         CUBED_OK);
        if (cb_confine_is_own(&c, cases[i].url) != cases[i].own)
            fail_msg("%s: %s", cases[i].document, cases[i].url);
    }
    cb_zone_free(zone);
}

static void test_kinds_of_addresses(void **state)
{
    static const struct {
        const char *host;
        cb_address_kind kind;
    } cases[] = {
        {"127.0.0.1", CB_ADDRESS_LOOPBACK},
        {"127.1", CB_ADDRESS_LOOPBACK},
        {"2130706433", CB_ADDRESS_LOOPBACK},
        {"0x7f.0.0.1", CB_ADDRESS_LOOPBACK},
        {"0.0.0.0", CB_ADDRESS_LOOPBACK},
        {"::1", CB_ADDRESS_LOOPBACK},
        {"::", CB_ADDRESS_LOOPBACK},
        {"::ffff:127.0.0.1", CB_ADDRESS_LOOPBACK},
        {"::ffff:7f00:1", CB_ADDRESS_LOOPBACK},
        {"::127.0.0.1", CB_ADDRESS_LOOPBACK},
        {"64:ff9b::7f00:1", CB_ADDRESS_LOOPBACK},
        {"2002:7f00:1::", CB_ADDRESS_LOOPBACK},
        {"localhost", CB_ADDRESS_LOOPBACK},
        {"LocalHost.", CB_ADDRESS_LOOPBACK},
        {"a.localhost", CB_ADDRESS_LOOPBACK},
        {"169.254.169.254", CB_ADDRESS_LINK_LOCAL},
        {"::ffff:169.254.169.254", CB_ADDRESS_LINK_LOCAL},
        {"fe80::1%eth0", CB_ADDRESS_LINK_LOCAL},
        {"febf::1", CB_ADDRESS_LINK_LOCAL},
        {"fd00:ec2::254", CB_ADDRESS_LINK_LOCAL},
        {"100.100.100.200", CB_ADDRESS_LINK_LOCAL},
        {"168.63.129.16", CB_ADDRESS_LINK_LOCAL},
        {"10.1.2.3", CB_ADDRESS_PRIVATE},
        {"172.31.0.1", CB_ADDRESS_PRIVATE},
        {"192.168.1.1", CB_ADDRESS_PRIVATE},
        {"100.64.0.1", CB_ADDRESS_PRIVATE},
        {"fd00::1", CB_ADDRESS_PRIVATE},
        {"172.32.0.1", CB_ADDRESS_PUBLIC},
        {"8.8.8.8", CB_ADDRESS_PUBLIC},
        {"2001:db8::1", CB_ADDRESS_PUBLIC},
        {"notlocalhost", CB_ADDRESS_PUBLIC},
        {"a.org", CB_ADDRESS_PUBLIC},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cb_address_kind kind = cb_address_kind_of(cases[i].host);
        if (kind != cases[i].kind) fail_msg("%s is %d", cases[i].host, (int)kind);
    }
}

static void test_hosts_of_urls(void **state)
{
    static const struct {
        const char *url, *host;
    } cases[] = {{"http://example.com", "example.com"},
                 {"http://example.com:80/a?b#c", "example.com"},
                 {"http://[::1]:80/a", "::1"},
                 {"http://127.0.0.1:80@example.com/a", "example.com"},
                 {"http://example.com/@127.0.0.1", "example.com"},
                 {"http://example.com?@127.0.0.1", "example.com"},
                 {"http://", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char host[CB_MOST_HOST];
        cb_host_of(cases[i].url, host);
        assert_string_equal(host, cases[i].host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_places),     cmocka_unit_test(test_allowed_prefixes),
        cmocka_unit_test(test_own_host_alone), cmocka_unit_test(test_kinds_of_addresses),
        cmocka_unit_test(test_hosts_of_urls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
