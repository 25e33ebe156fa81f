/* Parts of remote stores: signatures compared with those that Amazon published, and parsing of replies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/crc32c.h"
#include "store/auth/sigv4.h"
#include "store/core/uri.h"
#include "store/http/hedge.h"
#include "store/http/http_client.h"
#include "store/http/net.h"
#include "store/http/xml.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void put_line(cb_buf *b, const char *line) { cb_buf_put(b, line, strlen(line) + 1); }

/* Signs a request and compares all headers. The last header has the signature. */
static void expect(const cb_sigv4 *who, const cb_sigv4_request *r, const char *const *lines,
                   const char *names, const char *signature)
{
    cb_buf headers;
    const char *last = NULL, *at;
    cb_buf_init(&headers, &cb_system_allocator);
    for (; *lines; lines++) put_line(&headers, *lines);
    assert_int_equal(cb_sigv4_sign(who, r, &headers, NULL), CUBED_OK);
    for (at = headers.data; at < headers.data + headers.size; at += strlen(at) + 1) last = at;
    assert_ptr_equal(at, headers.data + headers.size);
    assert_memory_equal(last, "authorization: AWS4-HMAC-SHA256 Credential=", 43);
    const char *signed_names = strstr(last, "SignedHeaders=") + 14;
    assert_memory_equal(signed_names, names, strlen(names));
    assert_int_equal(signed_names[strlen(names)], ',');
    assert_string_equal(strstr(last, "Signature=") + 10, signature);
    cb_buf_free(&headers);
}

/* From the signature version 4 test suite: 2015-08-30 12:36:00. */
static const cb_sigv4 suite = {.id = "AKIDEXAMPLE",
                               .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                               .region = "us-east-1",
                               .service = "service",
                               .now = 1440938160};

static void test_suite(void **state)
{
    static const char *const host[] = {"host: example.amazonaws.com", NULL};
    static const char *const trim[] = {"host: example.amazonaws.com", "my-header1:  value1 ",
                                       "my-header2: \"a   b   c\"", NULL};
    static const char *const twice[] = {"host: example.amazonaws.com", "my-header1: value2",
                                        "my-header1: value2", "my-header1: value1", NULL};
    (void)state;
    expect(&suite, &(cb_sigv4_request){"GET", "/", "", EMPTY}, host, "host;x-amz-date",
           "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
    expect(&suite, &(cb_sigv4_request){"POST", "/", "", EMPTY}, host, "host;x-amz-date",
           "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
    expect(&suite, &(cb_sigv4_request){"GET", "/", "Param2=value2&Param1=value1", EMPTY}, host,
           "host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
    expect(&suite, &(cb_sigv4_request){"GET", "/%E1%88%B4", "", EMPTY}, host, "host;x-amz-date",
           "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85");
    expect(&suite, &(cb_sigv4_request){"GET", "/", "", EMPTY}, twice, "host;my-header1;x-amz-date",
           "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea");
    expect(&suite, &(cb_sigv4_request){"GET", "/", "", EMPTY}, trim,
           "host;my-header1;my-header2;x-amz-date",
           "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736");
}

/* Example of the S3 documentation: a GET of an object that is allowed for a day. */
static void test_signature_in_query(void **state)
{
    static const cb_sigv4 who = {.id = "AKIAIOSFODNN7EXAMPLE",
                                 .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                                 .region = "us-east-1",
                                 .service = "s3",
                                 .now = 1369353600};
    const cb_sigv4_request r = {"GET", "/test.txt", "", "UNSIGNED-PAYLOAD"};
    const cb_sigv4_request many = {"POST", "/", "delete=", "UNSIGNED-PAYLOAD"};
    cb_sigv4 session = who;
    cb_buf headers, query;
    (void)state;
    cb_buf_init(&headers, &cb_system_allocator);
    cb_buf_init(&query, &cb_system_allocator);
    put_line(&headers, "host: examplebucket.s3.amazonaws.com");
    assert_int_equal(cb_sigv4_sign_query(&who, &r, 86400, &headers, &query, NULL), CUBED_OK);
    assert_non_null(strstr(query.data, "X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2F"
                                       "us-east-1%2Fs3%2Faws4_request&X-Amz-SignedHeaders=host&"));
    assert_string_equal(strstr(query.data, "X-Amz-Signature=") + 16,
                        "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
    query.size = 0;
    session.token = "a+b/c=";
    put_line(&headers, "content-md5: 1B2M2Y8AsgTpgAmY7PhCfg==");
    assert_int_equal(cb_sigv4_sign_query(&session, &many, 60, &headers, &query, NULL), CUBED_OK);
    assert_memory_equal(query.data, "delete=&X-Amz-Algorithm=AWS4-HMAC-SHA256&", 41);
    assert_non_null(strstr(query.data, "&X-Amz-Expires=60&"));
    assert_non_null(strstr(query.data, "SignedHeaders=content-md5%3Bhost&"
                                       "X-Amz-Security-Token=a%2Bb%2Fc%3D&X-Amz-Signature="));
    cb_buf_free(&headers);
    cb_buf_free(&query);
}

/* From the documentation of S3: 2013-05-24 00:00:00. */
static void test_s3(void **state)
{
    static const cb_sigv4 who = {.id = "AKIAIOSFODNN7EXAMPLE",
                                 .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                                 .region = "us-east-1",
                                 .service = "s3",
                                 .now = 1369353600};
    static const char *const range[] = {"host: examplebucket.s3.amazonaws.com", "range: bytes=0-9",
                                        "x-amz-content-sha256: " EMPTY, NULL};
    static const char *const plain[] = {"host: examplebucket.s3.amazonaws.com",
                                        "x-amz-content-sha256: " EMPTY, NULL};
    static const char hash[] = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    static const char *const put[] = {
        "host: examplebucket.s3.amazonaws.com", "date: Fri, 24 May 2013 00:00:00 GMT",
        "x-amz-content-sha256: 44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
        "x-amz-storage-class: REDUCED_REDUNDANCY", NULL};
    (void)state;
    expect(&who, &(cb_sigv4_request){"GET", "/test.txt", "", EMPTY}, range,
           "host;range;x-amz-content-sha256;x-amz-date",
           "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    expect(&who, &(cb_sigv4_request){"PUT", "/test%24file.text", "", hash}, put,
           "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
           "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    expect(&who, &(cb_sigv4_request){"GET", "/", "lifecycle", EMPTY}, plain,
           "host;x-amz-content-sha256;x-amz-date",
           "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    expect(&who, &(cb_sigv4_request){"GET", "/", "prefix=J&max-keys=2", EMPTY}, plain,
           "host;x-amz-content-sha256;x-amz-date",
           "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void expect_text(cb_buf *b, const char *text)
{
    assert_false(b->failed);
    assert_string_equal(b->data, text);
    b->size = 0;
}

static void test_encoding(void **state)
{
    cb_buf b;
    (void)state;
    cb_buf_init(&b, &cb_system_allocator);
    cb_uri_put(&b, "a/b c+d~e\xc3\xa4%=&", "/");
    expect_text(&b, "a/b%20c%2Bd~e%C3%A4%25%3D%26");
    cb_uri_put(&b, "a/b", "");
    expect_text(&b, "a%2Fb");
    cb_uri_decode(&b, "a%2Fb+c%2", 9, true);
    expect_text(&b, "a/b c%2");
    cb_uri_decode(&b, "%41+%zz%4", 9, false);
    expect_text(&b, "A+%zz%4");
    cb_uri_decode(&b, "%412", 3, false); /* decodes only the three bytes of the given length */
    expect_text(&b, "A");
    cb_buf_free(&b);
}

static cb_xml_part part(const char *text) { return (cb_xml_part){text, strlen(text)}; }

static void test_xml(void **state)
{
    cb_xml_part all = part("<?xml?><R a='1'><Key>a&amp;b&#x41;&#66;</Key><Keys/><Key/><Key>c</Key"
                           "><E><Code>x</Code></R>");
    cb_xml_part x;
    cb_buf b;
    (void)state;
    cb_buf_init(&b, &cb_system_allocator);
    assert_true(cb_xml_find(part("<Up><UpId>1</UpId><Z>2</Z></Up>"), "Up", &x));
    /* the tag <UpId> begins like <Up>, but </UpId> does not end <Up> */
    assert_true(cb_xml_find(x, "Z", &x));
    assert_true(cb_xml_find(all, "R", &x));
    all = x;
    assert_true(cb_xml_find(x, "Key", &x));
    assert_true(cb_xml_put_text(&b, x));
    expect_text(&b, "a&bAB");
    assert_true(cb_xml_next(&all, "Key", &x));
    assert_true(cb_xml_next(&all, "Key", &x));
    assert_int_equal(x.size, 0);
    assert_true(cb_xml_next(&all, "Key", &x));
    assert_true(cb_xml_put_text(&b, x));
    expect_text(&b, "c");
    assert_false(cb_xml_next(&all, "Key", &x));
    assert_true(cb_xml_find(all, "Code", &x));
    assert_false(cb_xml_find(part("<Key>never ends"), "Key", &x));
    assert_false(cb_xml_find(part("<Key"), "Key", &x));
    assert_false(cb_xml_find(part("<"), "Key", &x));
    assert_false(cb_xml_put_text(&b, part("a&b")));
    assert_false(cb_xml_put_text(&b, part("&unknown;")));
    assert_false(cb_xml_put_text(&b, part("&#x110000;")));
    b.size = 0;
    assert_true(cb_xml_escape(&b, "<a&\"b'>\n"));
    expect_text(&b, "&#60;a&#38;&#34;b&#39;&#62;&#10;");
    assert_false(cb_xml_escape(&b, "\x01"));
    cb_buf_free(&b);
}

static void test_crc32c(void **state)
{
    static const unsigned char zeros[32] = {0};
    (void)state;
    assert_int_equal(cb_crc32c(0, zeros, 32), 0x8A9136AA); /* RFC 3720, B.4 */
    assert_int_equal(cb_crc32c(cb_crc32c(0, zeros, 13), zeros, 19), 0x8A9136AA);
    assert_int_equal(cb_crc32c(0, "123456789", 9), 0xE3069283);
    assert_int_equal(cb_crc32c(0, "", 0), 0);
}

static void test_settings(void **state)
{
    static const char *const variables[] = {"AWS_REGION=r1", "AWS_EMPTY=", "PATH=/bin", "odd",
                                            NULL};
    cb_net net;
    cb_zone *zone;
    const char *text;
    bool flag = false;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    cb_net_init(&net, &cb_system_allocator);
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    assert_int_equal(cb_net_set_variables(&net, variables, NULL), CUBED_OK);
    assert_int_equal(cb_net_set_option(&net, "s3://b/x", "REGION", "r2", NULL), CUBED_OK);
    assert_int_equal(cb_net_get(&net, zone, "s3://b/x/y", "AWS_REGION region", &text, NULL),
                     CUBED_OK);
    assert_string_equal(text, "r2");
    assert_int_equal(cb_net_get(&net, zone, "s3://b/xy", "AWS_REGION region", &text, NULL),
                     CUBED_OK);
    assert_string_equal(text, "r1");
    assert_int_equal(cb_net_get(&net, zone, "s3://b", "PATH AWS_EMPTY", &text, NULL), CUBED_OK);
    assert_null(text);
    assert_int_equal(cb_net_check_options(&net, "s3://b/x", "key region", NULL), CUBED_OK);
    assert_int_equal(cb_net_check_options(&net, "s3://b/x", "key", &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "\"REGION\""));
    assert_int_equal(cb_net_set_option(&net, "s3://b/x", "region", NULL, NULL), CUBED_OK);
    assert_int_equal(cb_net_set_option(&net, "s3://b", "anon", "True", NULL), CUBED_OK);
    assert_int_equal(cb_net_get_flag(&net, zone, "s3://b/x", "anon", &flag, NULL), CUBED_OK);
    assert_true(flag);
    assert_int_equal(cb_net_set_option(&net, "s3://b", "anon", "maybe", NULL), CUBED_OK);
    assert_int_equal(cb_net_get_flag(&net, zone, "s3://b/x", "anon", &flag, &err), CUBED_E_ARG);
    /* The new set of variables replaces the whole old set. */
    assert_int_equal(cb_net_set_variables(&net, variables + 1, NULL), CUBED_OK);
    assert_int_equal(cb_net_get(&net, zone, "s3://b/x", "AWS_REGION region", &text, NULL),
                     CUBED_OK);
    assert_null(text);
    cb_zone_free(zone);
    cb_net_free(&net);
}

/* The path that libcurl was built with need not exist: other systems have certificates elsewhere. */
static void test_certificates(void **state)
{
    (void)state;
    const char *debian = "/etc/ssl/certs/ca-certificates.crt";
    assert_null(cb_http_find_certificates("/proc/self/exe", NULL));
    assert_null(cb_http_find_certificates("/no/such/file", "/proc"));
    assert_null(cb_http_find_certificates(NULL, "/proc"));
    const char *found = cb_http_find_certificates("/no/such/file", "/no/such/folder");
    if (access(debian, R_OK) == 0) assert_string_equal(found, debian);
    if (found) assert_int_equal(access(found, R_OK), 0);
}

static void note_many(cb_hedge *h, int n, int64_t took)
{
    for (int i = 0; i < n; i++) {
        cb_hedge_ask(h);
        cb_hedge_note(h, took);
    }
}

/* The durations of other requests determine when a request is late. Then one request in twenty may be sent a second time. */
static void test_hedge(void **state)
{
    const int64_t ms = 1000000;
    (void)state;
    cb_hedge h;
    cb_hedge_init(&h);
    assert_int_equal(cb_hedge_after(&h), 0);
    note_many(&h, CB_HEDGE_LEAST - 1, 100 * ms);
    assert_int_equal(cb_hedge_after(&h), 0);
    note_many(&h, 1, 100 * ms);
    assert_int_equal(cb_hedge_after(&h), 200 * ms);
    assert_true(cb_hedge_spend(&h));
    assert_false(cb_hedge_spend(&h));
    assert_int_equal(cb_hedge_after(&h), 0);
    note_many(&h, CB_HEDGE_EVERY - 1, 100 * ms);
    assert_int_equal(cb_hedge_after(&h), 0);
    cb_hedge_ask(&h);
    assert_int_equal(cb_hedge_after(&h), 200 * ms);
    /* A few slow requests do not change the limit, but many do. Old requests are forgotten. */
    note_many(&h, 2, 10000 * ms);
    note_many(&h, CB_HEDGE_KNOWN - 2, 100 * ms);
    assert_int_equal(cb_hedge_after(&h), 200 * ms);
    note_many(&h, CB_HEDGE_KNOWN / 4, 300 * ms);
    assert_int_equal(cb_hedge_after(&h), 600 * ms);
    note_many(&h, 2 * CB_HEDGE_KNOWN, 1);
    assert_int_equal(cb_hedge_after(&h), 50 * ms);
    note_many(&h, 2 * CB_HEDGE_KNOWN, INT64_MAX);
    assert_int_equal(cb_hedge_after(&h), INT64_MAX);
    /* However many requests were not repeated, at most CB_HEDGE_BURST may be repeated in a row. */
    for (int i = 0; i < 1000 * CB_HEDGE_EVERY; i++) cb_hedge_ask(&h);
    for (int i = 0; i < CB_HEDGE_BURST; i++) assert_true(cb_hedge_spend(&h));
    assert_false(cb_hedge_spend(&h));
    cb_hedge_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suite),
        cmocka_unit_test(test_s3),
        cmocka_unit_test(test_signature_in_query),
        cmocka_unit_test(test_encoding),
        cmocka_unit_test(test_xml),
        cmocka_unit_test(test_crc32c),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_hedge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
