/* Sources of credentials: each of them while one allocation after the other fails; replies without credentials; and settings and
 * files that are refused. No credentials of another source are ever used. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define FAULT_STEPS_WITHOUT_REALLOC /* the server uses it, too */
#include "base/error.h"
#include "fault_steps.h"
#include "object_server.h"
#include "remove_dir.h"
#include "store/auth/credentials.h"
#include "store/services/store_registry.h"
#include "test_path.h"
#include "text_file.h"

enum { MOST_VARIABLES = 8, TEXT = 4096 };

static object_server *server;
static char root[64], private_key[TEXT];

/* A new private key as a string of JSON. */
static void make_key(void)
{
    EVP_PKEY *key = EVP_RSA_gen(1024);
    BIO *bio = BIO_new(BIO_s_mem());
    char *pem;
    assert_int_equal(PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL), 1);
    const long n = BIO_get_mem_data(bio, &pem);
    char *to = private_key;
    for (long i = 0; i < n; i++) {
        char c = pem[i];
        if (c == '\n') {
            *to++ = '\\';
            c = 'n';
        }
        *to++ = c;
    }
    BIO_free(bio);
    EVP_PKEY_free(key);
}

/* Copies a text, in which "%d" is the server's port, "%s" the directory of files and "%k" a private key. */
static const char *fill(const char *text, char to[TEXT])
{
    size_t n = 0;
    for (const char *at = text; *at; at++) {
        char c = 0;
        if (at[0] == '%') c = at[1];
        if (c == 'd')
            n += (size_t)snprintf(to + n, TEXT - n, "%d", object_server_port(server));
        else if (c == 's' || c == 'k')
            n += (size_t)snprintf(to + n, TEXT - n, "%s", c == 's' ? root : private_key);
        else
            to[n++] = *at;
        at += c == 'd' || c == 's' || c == 'k';
    }
    to[n] = 0;
    return to;
}

static void write_filled(const char *name, const char *text)
{
    char filled[TEXT];
    write_text_file(root, name, fill(text, filled));
}

/* --- Sources ------------------------------------------------------------------------------------------- */

typedef struct source {
    const char *name;
    cb_credentials_look look;
    const char *url, *variables[MOST_VARIABLES];
    const char *id; /* expected ID of a key, or token */
} source;

#define EXTERNAL(rest)                                                                             \
    "{\"type\": \"external_account\", \"audience\": \"a\", \"subject_token_type\": \"jwt\", "      \
    "\"token_url\": \"http://127.0.0.1:%d/exchange\"" rest "}"
#define USER                                                                                       \
    "{\"type\": \"authorized_user\", \"client_id\": \"c\", \"client_secret\": \"s\", "             \
    "\"refresh_token\": \"r\", \"token_uri\": \"http://127.0.0.1:%d/user\"}"
#define ACTED "\"service_account_impersonation_url\": \"http://127.0.0.1:%d/acted\""
#define KEYS(ID)                                                                                   \
    "{\"Version\": 1, \"AccessKeyId\": \"" ID                                                      \
    "\", \"SecretAccessKey\": \"s\", \"Token\": \"t\", \"SessionToken\": \"t\", "                  \
    "\"Expiration\": \"2999-01-01T00:00:00Z\"}"

static const source sources[] = {
    {"keys",
     cb_look_for_aws,
     "s3://b/x",
     {"AWS_ACCESS_KEY_ID=me", "AWS_SECRET_ACCESS_KEY=x", "AWS_SESSION_TOKEN=t"},
     "me"},
    {"profile",
     cb_look_for_aws,
     "s3://b/x",
     {"AWS_SHARED_CREDENTIALS_FILE=%s/credentials", "AWS_PROFILE=other",
      "AWS_CONFIG_FILE=%s/config"},
     "other"},
    {"process",
     cb_look_for_aws,
     "s3://b/x",
     {"AWS_CONFIG_FILE=%s/config", "AWS_PROFILE=told"},
     "process"},
    {"web identity",
     cb_look_for_aws,
     "s3://b/x",
     {"AWS_ROLE_ARN=arn:role", "AWS_WEB_IDENTITY_TOKEN_FILE=%s/token", "AWS_REGION=eu",
      "AWS_ENDPOINT_URL_STS=http://127.0.0.1:%d", "AWS_ROLE_SESSION_NAME=s"},
     "sts"},
    {"container",
     cb_look_for_aws,
     "s3://b/x",
     {"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:%d/container",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=%s/token"},
     "container"},
    {"instance",
     cb_look_for_aws,
     "s3://b/x",
     {"AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:%d"},
     "machine"},
    {"google's user",
     cb_look_for_google,
     "gs://b/x",
     {"GOOGLE_APPLICATION_CREDENTIALS=%s/user.json"},
     "user"},
    {"google's account",
     cb_look_for_google,
     "gs://b/x",
     {"GOOGLE_SERVICE_ACCOUNT_KEY={\"client_email\": \"a@b\", \"private_key\": \"%k\", "
      "\"private_key_id\": \"k\", \"token_uri\": \"http://127.0.0.1:%d/user\"}"},
     "user"},
    {"google's external file",
     cb_look_for_google,
     "gs://b/x",
     {"GOOGLE_APPLICATION_CREDENTIALS=%s/file.json"},
     "acted"},
    {"google's external service",
     cb_look_for_google,
     "gs://b/x",
     {"GOOGLE_APPLICATION_CREDENTIALS=%s/service.json"},
     "exchanged"},
    {"google's impersonation",
     cb_look_for_google,
     "gs://b/x",
     {"CLOUDSDK_CONFIG=%s/gcloud"},
     "acted"},
    {"google's machine",
     cb_look_for_google,
     "gs://b/x",
     {"GCE_METADATA_HOST=127.0.0.1:%d"},
     "metadata"},
    {"azure's application",
     cb_look_for_azure,
     "az://b/x",
     {"AZURE_CLIENT_ID=app", "AZURE_TENANT_ID=tenant", "AZURE_CLIENT_SECRET=s",
      "AZURE_AUTHORITY_HOST=http://127.0.0.1:%d/"},
     "application"},
    {"azure's workload",
     cb_look_for_azure,
     "az://b/x",
     {"AZURE_CLIENT_ID=app", "AZURE_TENANT_ID=tenant", "AZURE_FEDERATED_TOKEN_FILE=%s/token",
      "AZURE_AUTHORITY_HOST=http://127.0.0.1:%d"},
     "application"},
    {"azure's host",
     cb_look_for_azure,
     "az://b/x",
     {"IDENTITY_ENDPOINT=http://127.0.0.1:%d/identity", "IDENTITY_HEADER=h", "AZURE_CLIENT_ID=app"},
     "managed"},
};

static int setup(void **state)
{
    char path[96];
    (void)state;
    server = object_server_new();
    test_path(root, sizeof root, "cubed-test-credentials-XXXXXX");
    if (!mkdtemp(root)) return -1;
    if (!*private_key) make_key();
    snprintf(path, sizeof path, "%s/gcloud", root);
    if (mkdir(path, 0700) != 0) return -1;
    write_filled("credentials", "[default]\naws_access_key_id = mine\naws_secret_access_key = s\n"
                                "[other]\naws_access_key_id = other\naws_secret_access_key = s\n");
    write_filled("config",
                 "[profile told]\ncredential_process = echo '" KEYS(
                     "process") "'\n"
                                "[profile other]\nregion = eu\n[profile role]\nrole_arn = arn\n"
                                "[profile sso]\nsso_session = s\n[profile "
                                "failing]\ncredential_process = exit 3\n"
                                "[profile half]\naws_access_key_id = x\n");
    write_filled("token", "a.web.token\n");
    write_filled("user.json", USER);
    write_filled("file.json",
                 EXTERNAL(", " ACTED ", \"credential_source\": {\"file\": \"%s/token\"}"));
    write_filled(
        "service.json",
        EXTERNAL(", \"credential_source\": {\"url\": \"http://127.0.0.1:%d/subject\", "
                 "\"headers\": {\"A\": \"b\", \"C\": null}, \"format\": {\"type\": \"json\", "
                 "\"subject_token_field_name\": \"it\"}}"));
    write_filled("gcloud/application_default_credentials.json",
                 "{\"type\": \"impersonated_service_account\", " ACTED
                 ", \"delegates\": [\"d\"], \"source_credentials\": " USER "}");
    object_server_say(server, "Action=AssumeRoleWithWebIdentity",
                      "<R><AccessKeyId>sts</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
                      "<SessionToken>t</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration>"
                      "</R>");
    object_server_say(server, "GET /container", KEYS("container"));
    object_server_say(server, "/latest/api/token", "metadata-token");
    object_server_say(server, "/security-credentials/role", KEYS("machine"));
    object_server_say(server, "/security-credentials/", "role\n");
    object_server_say(server, "/user", "{\"access_token\": \"user\", \"expires_in\": 3600}");
    object_server_say(server, "/exchange", "{\"access_token\": \"exchanged\", \"expires_in\": 60}");
    object_server_say(server, "/subject", "{\"it\": \"subject\"}");
    object_server_say(server, "/acted",
                      "{\"accessToken\": \"acted\", \"expireTime\": \"2999-01-01T00:00:00Z\"}");
    object_server_say(server, "/default/token", "{\"access_token\": \"metadata\"}");
    object_server_say(server, "/tenant/oauth2/v2.0/token",
                      "{\"access_token\": \"application\", \"expires_on\": 32503680000}");
    object_server_say(server, "/identity",
                      "{\"access_token\": \"managed\", \"expires_in\": \"3600\"}");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    object_server_free(server);
    return remove_dir(root);
}

/* Gets the keys of a source. */
static cubed_status get_keys(const source *s, const cubed_allocator *a, cb_keys *keys,
                             cubed_error *err)
{
    char text[MOST_VARIABLES][TEXT];
    const char *all[MOST_VARIABLES + 1] = {NULL};
    const struct timespec turn = {.tv_nsec = 200000};
    cb_http_call call = {.error = CUBED_ERROR_INIT};
    cb_stores stores;
    cb_credentials *c;
    cb_http_ready ready = CB_HTTP_WAIT;
    for (int i = 0; i < MOST_VARIABLES && s->variables[i]; i++)
        all[i] = fill(s->variables[i], text[i]);
    cb_stores_init(&stores, a);
    cubed_status st = cb_net_set_variables(&stores.net, all, err);
    if (st == CUBED_OK) st = cb_credentials_find(&stores.net, s->url, s->look, &c, err);
    if (st == CUBED_OK) {
        while ((ready = cb_credentials_get(c, &call, keys)) == CB_HTTP_WAIT) nanosleep(&turn, NULL);
        st = ready == CB_HTTP_GO ? CUBED_OK : call.status;
        if (st != CUBED_OK) *err = call.error;
    }
    cb_stores_free(&stores);
    return st;
}

/* --- Tests --------------------------------------------------------------------------------------------- */

static cubed_status use_source(void *ctx, const cubed_allocator *a, cubed_error *err)
{
    const source *s = ctx;
    cb_keys keys = {.id = ""};
    const cubed_status st = get_keys(s, a, &keys, err);
    if (st == CUBED_OK) assert_string_equal(*keys.id ? keys.id : keys.token, s->id);
    return st;
}

static void test_allocations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const source *s = &sources[i];
        assert_true(fail_each_allocation(s->name, use_source, NULL, (void *)(uintptr_t)s) > 3);
    }
}

static const source *find_source(const char *name)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (strcmp(sources[i].name, name) == 0) return &sources[i];
    }
    fail_msg("no source %s", name);
    return NULL;
}

static void refuse(const source *s, cubed_status status, const char *part)
{
    cb_keys keys = {.id = "", .token = ""};
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_status st = get_keys(s, &cb_system_allocator, &keys, &err);
    if (st != status || !strstr(err.message, part))
        fail_msg("%s, %s: status %d, \"%s\"", s->name ? s->name : s->url, s->variables[0], st,
                 err.message);
    if (strstr(err.message, "hush")) fail_msg("%s", err.message);
}

/* Replies that have no credentials. No message quotes a reply, except the description of an error. */
static void test_replies(void **state)
{
    static char large[2040];
    static const struct {
        const char *name, *path;
        int code;
        const char *headers, *body, *says;
    } cases[] = {
        {"web identity", "AssumeRole", 403, "",
         "<E><Error><Message>no such\nrole</Message></Error></E>", "the reply is 403 (no such)"},
        {"web identity", "AssumeRole", 200, "", "<R><AccessKeyId>a</AccessKeyId></R>",
         "credentials from STS: the reply contains no credentials"},
        {"web identity", "AssumeRole", 200, "", "", "the reply contains no credentials"},
        {"container", "GET /container", 200, "", "hush", "the reply is not JSON"},
        {"container", "GET /container", 200, "",
         "{\"AccessKeyId\": \"a\", \"SecretAccessKey\": \"s\", \"Expiration\": \"soon\"}",
         "the reply contains no credentials"},
        {"container", "GET /container", 200, "",
         "{\"AccessKeyId\": \"\", \"SecretAccessKey\": \"s\"}",
         "the reply contains no credentials"},
        {"container", "GET /container", 400, "", "{\"error\": {\"message\": \"bad\"}}",
         "the reply is 400 (bad)"},
        {"container", "GET /container", 400, "", "{\"error\": 7}", "the reply is 400"},
        {"container", "GET /container", 404, "", "<html>", "the reply is 404"},
        {"instance", "/latest/api/token", 403, "", "", "no credentials were found"},
        {"instance", "/security-credentials/role", 200, "", "{}", "contains no credentials"},
        {"instance", "/security-credentials/ ", 404, "", "", "no credentials were found"},
        {"google's user", "/user", 400, "",
         "{\"error\": \"invalid_grant\", \"error_description\": \"expired\"}",
         "the reply is 400 (expired)"},
        {"google's user", "/user", 401, "", "{\"error\": \"invalid_client\"}",
         "the reply is 401 (invalid_client)"},
        {"google's user", "/user", 200, "", "{\"token\": \"hush\"}", "the reply has no token"},
        {"google's user", "/user", 200, "", "{\"access_token\": \"\"}", "the reply has no token"},
        {"google's user", "/user", 200, "", "[\"hush\"]", "the reply has no token"},
        {"google's user", "/user", 200, "", "hush", "the reply has no token"},
        {"google's external service", "/subject", 404, "", "", "/subject: the reply is 404"},
        {"google's external service", "/subject", 200, "", "{\"that\": \"hush\"}",
         "there is no \"it\" in JSON"},
        {"google's external service", "/subject", 200, "", "plain", "there is no \"it\" in JSON"},
        {"google's impersonation", "/acted", 403, "", "{\"error\": {\"message\": \"denied\"}}",
         "/acted: the reply is 403 (denied)"},
        {"google's impersonation", "/user", 400, "", "", "/user: the reply is 400"},
        {"google's machine", "/default/token", 404, "", "", "no credentials were found"},
        {"azure's application", "/tenant/", 401, "", "{\"error_description\": \"who\"}",
         "the reply is 401 (who)"},
        {"azure's host", "/identity", 400, "", "{\"error\": {\"message\": \"none\"}}",
         "no credentials were found"},
        {"azure's host", "/identity", 200, "", large, "the reply has no token"},
    };
    (void)state;
    snprintf(large, sizeof large, "{\"access_token\": 1, \"x\": \"%02000d\"}", 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        object_server_fail(server, cases[i].path, cases[i].code, cases[i].headers, cases[i].body,
                           99);
        refuse(find_source(cases[i].name), CUBED_E_IO, cases[i].says);
        object_server_forgive(server);
    }
}

/* A transient failure is repeated. */
static void test_replies_that_pass(void **state)
{
    cb_keys keys = {.id = ""};
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    object_server_fail(server, "/user", 503, "", "", 1);
    assert_int_equal(get_keys(find_source("google's user"), &cb_system_allocator, &keys, &err),
                     CUBED_OK);
    assert_string_equal(keys.token, "user");
}

static void test_settings(void **state)
{
    static const struct {
        source s;
        cubed_status status;
        const char *says;
    } cases[] = {
#define AWS    NULL, cb_look_for_aws, "s3://b/x"
#define GOOGLE NULL, cb_look_for_google, "gs://b/x"
#define AZURE  NULL, cb_look_for_azure, "az://b/x"
        {{AWS, {"AWS_ACCESS_KEY_ID=me"}, NULL}, CUBED_E_ARG, "an access key without its"},
        {{AWS, {"AWS_CONFIG_FILE=%s/config", "AWS_PROFILE=role"}, NULL},
         CUBED_E_UNSUPPORTED,
         "profile \"role\" assumes a role"},
        {{AWS, {"AWS_CONFIG_FILE=%s/config", "AWS_PROFILE=sso"}, NULL},
         CUBED_E_UNSUPPORTED,
         "profile \"sso\" signs in with SSO"},
        {{AWS, {"AWS_CONFIG_FILE=%s/config", "AWS_PROFILE=half"}, NULL},
         CUBED_E_ARG,
         "an access key without its"},
        {{AWS, {"AWS_CONFIG_FILE=%s/config", "AWS_PROFILE=failing"}, NULL},
         CUBED_E_IO,
         "credential_process of profile \"failing\" failed"},
        {{AWS, {"AWS_CONFIG_FILE=%s/config", "AWS_PROFILE=none"}, NULL},
         CUBED_E_ARG,
         "cannot find profile \"none\""},
        {{AWS, {"AWS_ROLE_ARN=a", "AWS_WEB_IDENTITY_TOKEN_FILE=%s/none"}, NULL},
         CUBED_E_IO,
         "/none does not exist"},
        {{AWS, {"AWS_CONFIG_FILE=%s", "AWS_PROFILE=x"}, NULL}, CUBED_E_IO, "cannot read"},
        {{AWS, {"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.org/"}, NULL},
         CUBED_E_ARG,
         "expected https:// or this machine"},
        {{AWS,
          {"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:%d/container",
           "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=%s/none"},
          NULL},
         CUBED_E_IO,
         "/none does not exist"},
        {{AWS, {"AWS_EC2_METADATA_DISABLED=true"}, NULL}, CUBED_E_IO, "no credentials were found"},
        {{GOOGLE, {"GOOGLE_APPLICATION_CREDENTIALS=%s/none"}, NULL},
         CUBED_E_ARG,
         "cannot find the credentials file"},
        {{GOOGLE, {"GOOGLE_SERVICE_ACCOUNT_KEY=x"}, NULL},
         CUBED_E_ARG,
         "expected credentials of Google in JSON"},
        {{GOOGLE, {"GOOGLE_SERVICE_ACCOUNT_KEY={}"}, NULL},
         CUBED_E_ARG,
         "expected client_email and private_key"},
        {{GOOGLE,
          {"GOOGLE_SERVICE_ACCOUNT_KEY={\"client_email\": \"a\", \"private_key\": \"x\"}"},
          NULL},
         CUBED_E_ARG,
         "the private_key of a is not an RSA key"},
        {{GOOGLE, {"GOOGLE_SERVICE_ACCOUNT_KEY={\"type\": \"gdch\"}"}, NULL},
         CUBED_E_UNSUPPORTED,
         "has credentials of type gdch"},
        {{GOOGLE,
          {"GOOGLE_SERVICE_ACCOUNT_KEY={\"type\": \"impersonated_service_account\"}"},
          NULL},
         CUBED_E_ARG,
         "need \"service_account_impersonation_url\""},
        {{GOOGLE,
          {"GOOGLE_SERVICE_ACCOUNT_KEY={\"type\": \"external_account\", "
           "\"service_account_impersonation_url\": \"http://example.org\"}"},
          NULL},
         CUBED_E_ARG,
         "service_account_impersonation_url is http://example.org"},
        {{GOOGLE, {"GOOGLE_SERVICE_ACCOUNT_KEY={\"type\": \"external_account\"}"}, NULL},
         CUBED_E_ARG,
         "credentials of an external account need \"audience\""},
        {{GOOGLE,
          {"GOOGLE_SERVICE_ACCOUNT_KEY={\"type\": \"external_account\", \"audience\": \"a\", "
           "\"subject_token_type\": \"t\", \"token_url\": \"http://example.org/x\"}"},
          NULL},
         CUBED_E_ARG,
         "token_url is http://example.org/x"},
        {{GOOGLE, {"GOOGLE_SERVICE_ACCOUNT_KEY=" EXTERNAL("")}, NULL},
         CUBED_E_UNSUPPORTED,
         "for another give a token"},
        {{GOOGLE,
          {"GOOGLE_SERVICE_ACCOUNT_KEY=" EXTERNAL(
              ", \"credential_source\": {\"environment_id\": \"aws1\", \"url\": \"x\"}")},
          NULL},
         CUBED_E_UNSUPPORTED,
         "for an instance of AWS give a token"},
        {{GOOGLE,
          {"GOOGLE_SERVICE_ACCOUNT_KEY=" EXTERNAL(", \"credential_source\": {\"executable\": {}}")},
          NULL},
         CUBED_E_UNSUPPORTED,
         "for an executable give a token"},
        {{GOOGLE,
          {"GOOGLE_SERVICE_ACCOUNT_KEY=" EXTERNAL(
              ", \"credential_source\": {\"certificate\": {}}")},
          NULL},
         CUBED_E_UNSUPPORTED,
         "for a certificate give a token"},
        {{GOOGLE,
          {"GOOGLE_SERVICE_ACCOUNT_KEY=" EXTERNAL(
              ", \"credential_source\": {\"file\": \"%s/token\", \"format\": {\"type\": "
              "\"json\"}}")},
          NULL},
         CUBED_E_IO,
         "there is no \"subject_token_field_name\" in JSON"},
        {{AZURE, {"AZURE_CLIENT_SECRET=x"}, NULL},
         CUBED_E_ARG,
         "AZURE_CLIENT_SECRET is set without AZURE_CLIENT_ID"},
        {{AZURE, {"AZURE_FEDERATED_TOKEN_FILE=x", "AZURE_CLIENT_ID=c"}, NULL},
         CUBED_E_ARG,
         "AZURE_FEDERATED_TOKEN_FILE is set without AZURE_TENANT_ID"},
        {{AZURE,
          {"AZURE_FEDERATED_TOKEN_FILE=x", "AZURE_CLIENT_ID=c", "AZURE_TENANT_ID=t",
           "AZURE_AUTHORITY_HOST=http://example.org"},
          NULL},
         CUBED_E_ARG,
         "AZURE_AUTHORITY_HOST is \"http://example.org\""},
        {{AZURE,
          {"AZURE_FEDERATED_TOKEN_FILE=%s/none", "AZURE_CLIENT_ID=c", "AZURE_TENANT_ID=t"},
          NULL},
         CUBED_E_IO,
         "/none does not exist"},
        {{AZURE, {"IDENTITY_ENDPOINT=http://127.0.0.1:%d/identity"}, NULL},
         CUBED_E_UNSUPPORTED,
         "IDENTITY_ENDPOINT is set without IDENTITY_HEADER"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(&cases[i].s, cases[i].status, cases[i].says);
}

/* The option "token" is a token, a file, its contents or a keyword. */
static void test_tokens_of_google(void **state)
{
    static const source cases[] = {
        {GOOGLE, {"GOOGLE_OAUTH_ACCESS_TOKEN=ya29"}, "ya29"},
        {GOOGLE, {"GOOGLE_OAUTH_ACCESS_TOKEN=anon"}, ""},
        {GOOGLE, {"GOOGLE_OAUTH_ACCESS_TOKEN=%s/user.json"}, "user"},
        {GOOGLE, {"GOOGLE_OAUTH_ACCESS_TOKEN=" USER}, "user"},
        {GOOGLE, {"STORAGE_EMULATOR_HOST=http://127.0.0.1:%d"}, ""},
        {GOOGLE,
         {"GOOGLE_OAUTH_ACCESS_TOKEN=cloud", "GCE_METADATA_HOST=127.0.0.1:%d", "HOME=%s"},
         "metadata"},
        {AZURE, {"AZURE_STORAGE_ENDPOINT=http://127.0.0.1:%d/account"}, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cb_keys keys = {.token = "?"};
        cubed_error err = CUBED_ERROR_INIT;
        if (get_keys(&cases[i], &cb_system_allocator, &keys, &err) != CUBED_OK)
            fail_msg("%s: %s", cases[i].variables[0], err.message);
        assert_string_equal(keys.token, cases[i].id);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_allocations), TEST(test_replies),
                                       TEST(test_replies_that_pass), TEST(test_settings),
                                       TEST(test_tokens_of_google)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
