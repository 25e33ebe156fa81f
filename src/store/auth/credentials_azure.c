/* Tokens of Microsoft Entra for Azure Blob Storage or another resource: for an application with a secret, a workload identity (a
 * token file of its cluster), or the managed identity of the machine. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/auth/credentials_pkg.h"
#include "store/core/uri.h"

#define RESOURCE  "https://storage.azure.com"
#define AUTHORITY "https://login.microsoftonline.com"
#define MACHINE   "http://169.254.169.254/metadata/identity/oauth2/token"

enum { ATTEMPTS = 3 };

/* Gets an access token for the client c->client. The request contains the client's secret if there is one. Otherwise it
 * contains the identity token that the cluster stores for the workload in the file c->token_file. */
static cubed_status fetch_for_client(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                     cubed_error *err)
{
    cb_zone *zone;
    cb_buf url, form;
    const char *token, *host = c->sts ? c->sts : AUTHORITY;
    size_t n = strlen(host);
    CB_TRY(cb_zone_new(cb_zone_allocator(c->zone), &zone, err));
    cb_buf_init(&url, cb_zone_allocator(zone));
    cb_buf_init(&form, cb_zone_allocator(zone));
    cubed_status st = CUBED_OK;
    while (n > 0 && host[n - 1] == '/') n--;
    cb_buf_printf(&url, "%.*s/", (int)n, host);
    cb_uri_put(&url, c->tenant, "");
    cb_buf_puts(&url, "/oauth2/v2.0/token");
    cb_put_field(&form, "grant_type", "client_credentials");
    cb_put_field(&form, "client_id", c->client);
    cb_buf_puts(&form, "&scope=");
    cb_uri_put(&form, c->resource ? c->resource : RESOURCE, "");
    cb_uri_put(&form, "/.default", "");
    if (c->secret) {
        cb_put_field(&form, "client_secret", c->secret);
    } else {
        CB_GO(cb_read_token(zone, c->token_file, &token, err));
        cb_put_field(&form, "client_assertion_type",
                     "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
        cb_put_field(&form, "client_assertion", token);
    }
    if (url.failed || form.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    const cb_question q = {"POST", url.data, NULL, 10000, ATTEMPTS, form.data};
    st = cb_ask_for_token(c, &q, keys, ends, err);
out:
    cb_buf_free(&url);
    cb_free_secret(&form);
    cb_zone_free(zone);
    return st;
}

/* Fetches a token for the identity of a virtual machine or of an application host. Requests to the application host need a secret
 * header, whose value is in an environment variable. */
static cubed_status fetch_from_machine(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                       cubed_error *err)
{
    const cubed_allocator *a = cb_zone_allocator(c->zone);
    cubed_error why = CUBED_ERROR_INIT;
    cb_buf url, header;
    cubed_status st;
    cb_buf_init(&url, a);
    cb_buf_init(&header, a);
    cb_buf_printf(&url, "%s?api-version=%s", c->address ? c->address : MACHINE,
                  c->bearer ? "2019-08-01" : "2018-02-01");
    cb_buf_puts(&url, "&resource=");
    cb_uri_put(&url, c->resource ? c->resource : RESOURCE "/", "");
    if (c->client) cb_put_field(&url, "client_id", c->client);
    cb_buf_printf(&header, "%s: %s", c->bearer ? "X-IDENTITY-HEADER" : "Metadata",
                  c->bearer ? c->bearer : "true");
    const cb_question q = {"GET", url.data, header.data, 1000, ATTEMPTS, NULL};
    if (url.failed || header.failed)
        st = cb_fail(&why, CUBED_E_NOMEM, "no memory for credentials");
    else
        st = cb_ask_for_token(c, &q, keys, ends, &why);
    if (st == CUBED_E_IO && !c->resource) /* most likely this machine has no managed identity */
        st = cb_fail(err, st,
                     "no credentials were found: set AZURE_STORAGE_ACCOUNT_KEY, "
                     "AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_CONNECTION_STRING, run on a "
                     "machine with a managed identity, or set AZURE_SKIP_SIGNATURE=true for "
                     "public data (%s)",
                     why.message);
    else if (st != CUBED_OK && err)
        *err = why;
    cb_buf_free(&url);
    cb_free_secret(&header);
    return st;
}

cubed_status cb_look_for_azure(cb_credentials *c, cubed_error *err)
{
    const char *of_host, *secret, *file;
    CB_TRY(cb_credentials_option(c, CB_AZURE_CLIENT, &c->client, err));
    CB_TRY(cb_credentials_option(c, CB_AZURE_TENANT, &c->tenant, err));
    CB_TRY(cb_credentials_option(c, CB_AZURE_SECRET, &secret, err));
    CB_TRY(cb_credentials_option(c, CB_AZURE_FILE, &file, err));
    CB_TRY(cb_credentials_option(c, CB_AZURE_HOST, &c->sts, err));
    CB_TRY(cb_credentials_option(c, CB_AZURE_MACHINE, &c->address, err));
    CB_TRY(cb_credentials_option(c, CB_AZURE_ENDPOINT, &c->endpoint, err));
    CB_TRY(cb_credentials_option(c, "IDENTITY_ENDPOINT", &of_host, err));
    if (secret || file) {
        if (!c->client || !c->tenant)
            return cb_fail(err, CUBED_E_ARG, "%s is set without %s",
                           secret ? "AZURE_CLIENT_SECRET" : "AZURE_FEDERATED_TOKEN_FILE",
                           c->client ? "AZURE_TENANT_ID" : "AZURE_CLIENT_ID");
        if (c->sts && !cb_is_near(c->sts))
            return cb_fail(err, CUBED_E_ARG,
                           "AZURE_AUTHORITY_HOST is \"%s\", expected https:// or this machine",
                           c->sts);
        c->secret = secret;
        c->token_file = secret ? NULL : file;
        c->fetch = fetch_for_client;
        return CUBED_OK;
    }
    c->tenant = NULL;
    if (!c->address && of_host) {
        c->address = of_host;
        CB_TRY(cb_credentials_option(c, "IDENTITY_HEADER", &c->bearer, err));
        if (!c->bearer)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "IDENTITY_ENDPOINT is set without IDENTITY_HEADER: identities of Azure "
                           "Arc are not supported; give a token in AZURE_STORAGE_TOKEN");
    }
    /* Emulators need no credentials, and a token must not be sent without TLS unless the user configured it. */
    if (!c->resource && !c->address && c->endpoint && strncmp(c->endpoint, "https://", 8) != 0)
        c->ends = INT64_MAX;
    else
        c->fetch = fetch_from_machine;
    return CUBED_OK;
}
