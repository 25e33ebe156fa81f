/* Identity tokens for endpoints that run tasks: their sources, their expiry, and what is refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "context/context.h"
#include "cubed/cubed.h"
#include "object_server.h"
#include "remove_dir.h"
#include "store/auth/credentials.h"
#include "test_path.h"
#include "text_file.h"

/* Tokens {"exp": 32503680000, "aud": "?>~"}, which is the year 3000, {"exp": 1000} and {"sub": "x"}, unsigned. */
#define LATER   "e30.eyJleHAiOiAzMjUwMzY4MDAwMCwgImF1ZCI6ICI_Pn4ifQ.sig"
#define EXPIRED "e30.eyJleHAiOiAxMDAwfQ.sig"
#define ENDLESS "e30.eyJzdWIiOiAieCJ9.sig"
#define HERE    "worker+http://127.0.0.1:8080"

static char root[64];
static object_server *server;

static int setup(void **state)
{
    (void)state;
    test_path(root, sizeof root, "cubed-test-XXXXXX");
    server = object_server_new();
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    object_server_free(server);
    return remove_dir(root);
}

/* Finds the credentials of an endpoint, with options "NAME=VALUE|NAME=VALUE". "%s" in values is the folder of files, "%d" the
 * port of the server. */
static cubed_status find_credentials(cubed_context *ctx, const char *url, const char *options,
                                     cb_credentials **out, cubed_error *err)
{
    char text[512];
    for (const char *at = options; *at; at += *at == '|') {
        const size_t n = strcspn(at, "|"), name = strcspn(at, "=");
        char *value = strndup(at + name + 1, n - name - 1);
        char *key = strndup(at, name), *place = strstr(value, "%s"), *port = strstr(value, "%d");
        if (place)
            snprintf(text, sizeof text, "%.*s%s%s", (int)(place - value), value, root, place + 2);
        else if (port)
            snprintf(text, sizeof text, "%.*s%d%s", (int)(port - value), value,
                     object_server_port(server), port + 2);
        else
            snprintf(text, sizeof text, "%s", value);
        assert_int_equal(cb_net_set_option(&ctx->stores.net, url, key, text, NULL), CUBED_OK);
        free(key);
        free(value);
        at += n;
    }
    return cb_credentials_find(&ctx->stores.net, url, cb_look_for_oidc, out, err);
}

static void wait_for_keys(cb_credentials *c, cb_http_call *call, cb_keys *keys)
{
    const struct timespec turn = {.tv_nsec = 1000000};
    while (cb_credentials_get(c, call, keys) == CB_HTTP_WAIT) nanosleep(&turn, NULL);
}

static cubed_status get_token(const char *url, const char *options, cb_keys *keys, cubed_error *err)
{
    cubed_context *ctx;
    cb_credentials *c;
    cb_http_call call = {.error = CUBED_ERROR_INIT};
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    cubed_status st = find_credentials(ctx, url, options, &c, err);
    if (st == CUBED_OK) {
        wait_for_keys(c, &call, keys);
        st = call.status;
        *err = call.error;
    }
    cubed_context_unref(ctx);
    return st;
}

static void expect(const char *url, const char *options, const char *token)
{
    cb_keys keys = {.token = "?"};
    cubed_error err = CUBED_ERROR_INIT;
    if (get_token(url, options, &keys, &err) != CUBED_OK)
        fail_msg("%s, %s: %s", url, options, err.message);
    assert_string_equal(keys.token, token);
}

static void refuse(const char *url, const char *options, cubed_status status, const char *part)
{
    cb_keys keys = {.token = ""};
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_status st = get_token(url, options, &keys, &err);
    if (st != status || !strstr(err.message, part))
        fail_msg("%s, %s: status %d, %s", url, options, st, err.message);
    assert_string_equal(keys.token, "");
}

static void test_tokens(void **state)
{
    (void)state;
    write_text_file(root, "token", LATER "\n");
    object_server_say(server,
                      "/computeMetadata/v1/instance/service-accounts/default/"
                      "identity?audience=https%3A%2F%2Fa%2Fb",
                      LATER);
    object_server_say(server, "/identity?",
                      "{\"access_token\": \"" LATER "\", \"expires_in\": \"3600\"}");
    expect(HERE, "token_command=echo ' " LATER " '", LATER);
    expect(HERE, "token_command=printf " ENDLESS, ENDLESS);
    expect(HERE, "token_command=echo opaque", "opaque");
    expect(HERE, "token_command=echo a.!.b", "a.!.b"); /* no JSON Web Token */
    expect(HERE, "token_file=%s/token", LATER);
    expect(HERE, "token_from=google|audience=https://a/b|GCE_METADATA_HOST=127.0.0.1:%d", LATER);
    expect(HERE, "token_from=azure|audience=a|msi_endpoint=http://127.0.0.1:%d/identity", LATER);
    /* no token: an endpoint on this machine, and one that asks for none */
    expect(HERE, "", "");
    expect("worker+https://example.org/run", "token_from=none", "");
}

static void test_refusals(void **state)
{
    (void)state;
    write_text_file(root, "old", EXPIRED);
    write_text_file(root, "empty", "\n");
    char *large = malloc(9001);
    memset(large, 'a', 9000);
    large[9000] = 0;
    write_text_file(root, "large", large);
    free(large);
    refuse(HERE, "token_command=echo " EXPIRED, CUBED_E_IO, "expires in less than 60 s");
    refuse(HERE, "token_file=%s/old", CUBED_E_IO, "expires in less than 60 s");
    refuse(HERE, "token_command=true", CUBED_E_IO, "token_command returned no token");
    refuse(HERE, "token_command=echo two words", CUBED_E_IO, "expected one line with a token");
    refuse(HERE, "token_command=false", CUBED_E_IO, "token_command");
    refuse(HERE, "token_file=%s/empty", CUBED_E_IO, "");
    refuse(HERE, "token_file=%s/large", CUBED_E_IO, "");
    refuse(HERE, "token_file=%s/none", CUBED_E_IO, "none");
    refuse(HERE, "token_from=moon", CUBED_E_ARG, "token_from is \"moon\", expected google, azure");
    refuse(HERE, "token_from=google|token_file=x", CUBED_E_ARG, "expected one of them");
    refuse("worker+https://example.org/run", "", CUBED_E_ARG, "https://example.org/run: expected");
    refuse("worker+http://example.org/run", "token_command=echo x", CUBED_E_ARG,
           "expected https:// or this machine");
    object_server_fail(server, "audience=gone", 404, "", "", 9);
    refuse(HERE, "token_from=google|audience=gone|GCE_METADATA_HOST=127.0.0.1:%d", CUBED_E_IO,
           "404");
    object_server_forgive(server);
}

/* A server rejects two calls with the same token. The second reply arrives when the token has been renewed. */
static void test_late_rejection(void **state)
{
    cubed_context *ctx;
    cb_credentials *c;
    cubed_error err = CUBED_ERROR_INIT;
    cb_http_call first = {.error = CUBED_ERROR_INIT}, late = first, next = first;
    cb_keys keys;
    char runs[128];
    (void)state;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    write_text_file(root, "tell", "echo >> \"$(dirname \"$0\")/runs\"; echo " LATER "\n");
    assert_int_equal(find_credentials(ctx, HERE, "token_command=sh %s/tell", &c, &err), CUBED_OK);
    wait_for_keys(c, &first, &keys);
    assert_int_equal(cb_credentials_get(c, &late, &keys), CB_HTTP_GO);
    assert_true(cb_credentials_renew(c, &first));
    assert_int_equal(cb_credentials_get(c, &next, &keys), CB_HTTP_WAIT);
    wait_for_keys(c, &next, &keys);
    assert_true(cb_credentials_renew(c, &late));
    assert_int_equal(cb_credentials_get(c, &late, &keys), CB_HTTP_GO);
    snprintf(runs, sizeof runs, "%s/runs", root);
    FILE *f = fopen(runs, "r");
    assert_non_null(f);
    assert_int_equal(fgetc(f), '\n');
    assert_int_equal(fgetc(f), '\n');
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    /* the new token is rejected, too */
    assert_true(cb_credentials_renew(c, &next));
    assert_int_equal(cb_credentials_get(c, &next, &keys), CB_HTTP_WAIT);
    wait_for_keys(c, &next, &keys);
    cubed_context_unref(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_late_rejection, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
