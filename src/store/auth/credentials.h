/* Credentials of users for services: keys and tokens. The search order is that of the service's own tools. One thread per context
 * renews credentials before they expire. */
#ifndef CB_STORE_CREDENTIALS_H
#define CB_STORE_CREDENTIALS_H

#include "store/http/net.h"

typedef struct cb_keys {
    char id[256], secret[256], token[8192]; /* token: "" if there is no token */
} cb_keys;

/* Searches the usual sources of a service's credentials, such as options, environment variables and files. */
typedef cubed_status (*cb_credentials_look)(cb_credentials *c, cubed_error *err);
/* Get AWS keys, or Google tokens. A Google token is stored in `token` only, and is "" for anonymous access. */
CUBED_MUST_CHECK cubed_status cb_look_for_aws(cb_credentials *c, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_look_for_google(cb_credentials *c, cubed_error *err);
/* Searches for a way to get Azure tokens. The token is stored in `token` only, and is "" for anonymous access. */
CUBED_MUST_CHECK cubed_status cb_look_for_azure(cb_credentials *c, cubed_error *err);
/* Searches for a way to get identity tokens of an endpoint, whose URL follows CB_OIDC_PREFIX in the URL of `c`. The token is
 * stored in `token` only, and is "" for anonymous access. CUBED_E_ARG if several ways are configured, if none is configured for
 * an endpoint on another machine, or if a token would be sent to another machine without TLS. */
CUBED_MUST_CHECK cubed_status cb_look_for_oidc(cb_credentials *c, cubed_error *err);

/* Finds the credentials of a URL. URLs whose credentials have the same source share one object. The net owns and frees them. */
CUBED_MUST_CHECK cubed_status cb_credentials_find(cb_net *net, const char *url,
                                                  cb_credentials_look look, cb_credentials **out,
                                                  cubed_error *err);
/* Gets the current credentials for a call, and records in the call which credentials it got. Called by the client's thread.
 * Returns CB_HTTP_WAIT while they are being fetched; the client is woken when they arrive. If there are no credentials, returns
 * CB_HTTP_NO and sets status and error of the call. */
cb_http_ready cb_credentials_get(cb_credentials *c, cb_http_call *call, cb_keys *out);
/* Adds the header "Authorization: Bearer TOKEN" to a call, unless the token is "". */
void cb_put_bearer(cb_http_call *call, const char *token);
/* Gets the credentials (cb_credentials_get, whose result it returns), and adds their token to the call (cb_put_bearer). Called by
 * the HTTP client's thread. */
cb_http_ready cb_credentials_put_token(cb_credentials *c, cb_http_call *call);
/* Marks credentials as expired after a server rejected those of a call, so that the thread fetches new ones. Does nothing if
 * newer credentials have arrived since the call got its credentials. Returns false if these credentials cannot be renewed. */
bool cb_credentials_renew(cb_credentials *c, const cb_http_call *call);
/* Return region and endpoint from the settings, or else from the profile; NULL if not set. */
const char *cb_credentials_region(const cb_credentials *c);
const char *cb_credentials_endpoint(const cb_credentials *c);
/* Frees all credentials of a net and ends its renewing thread. Call it before cb_net_free, when no store of the net is
 * open. */
void cb_credentials_free(cb_net *net);

/* Names of the options for credentials. */
#define CB_AWS_ID      "AWS_ACCESS_KEY_ID key access_key_id"
#define CB_AWS_SECRET  "AWS_SECRET_ACCESS_KEY secret secret_access_key"
#define CB_AWS_TOKEN   "AWS_SESSION_TOKEN token session_token"
#define CB_AWS_OPTIONS CB_AWS_ID " " CB_AWS_SECRET " " CB_AWS_TOKEN " AWS_PROFILE profile"
#define CB_GOOGLE_FILE                                                                             \
    "GOOGLE_APPLICATION_CREDENTIALS GOOGLE_SERVICE_ACCOUNT application_credentials "               \
    "service_account service_account_path google_service_account google_application_credentials"
#define CB_GOOGLE_KEY      "GOOGLE_SERVICE_ACCOUNT_KEY service_account_key google_service_account_key"
#define CB_GOOGLE_ENDPOINT "STORAGE_EMULATOR_HOST endpoint_url endpoint"
#define CB_GOOGLE_TOKEN    "GOOGLE_OAUTH_ACCESS_TOKEN token bearer_token access_token"
#define CB_AZURE_CLIENT    "AZURE_CLIENT_ID AZURE_STORAGE_CLIENT_ID client_id"
#define CB_AZURE_SECRET    "AZURE_CLIENT_SECRET AZURE_STORAGE_CLIENT_SECRET client_secret"
#define CB_AZURE_TENANT    "AZURE_TENANT_ID AZURE_STORAGE_TENANT_ID tenant_id authority_id"
#define CB_AZURE_FILE      "AZURE_FEDERATED_TOKEN_FILE federated_token_file"
#define CB_AZURE_HOST      "AZURE_AUTHORITY_HOST authority_host"
#define CB_AZURE_MACHINE   "AZURE_MSI_ENDPOINT AZURE_IDENTITY_ENDPOINT msi_endpoint identity_endpoint"
#define CB_AZURE_ENDPOINT  "AZURE_STORAGE_ENDPOINT AZURE_ENDPOINT endpoint_url endpoint account_host"
#define CB_AZURE_OPTIONS                                                                           \
    CB_AZURE_CLIENT " " CB_AZURE_SECRET " " CB_AZURE_TENANT " " CB_AZURE_FILE " " CB_AZURE_HOST    \
                    " " CB_AZURE_MACHINE

#define CB_OIDC_PREFIX   "worker+"
#define CB_OIDC_COMMAND  "CUBED_HTTP_TOKEN_COMMAND token_command"
#define CB_OIDC_FILE     "CUBED_HTTP_TOKEN_FILE token_file"
#define CB_OIDC_FROM     "CUBED_HTTP_TOKEN_FROM token_from"
#define CB_OIDC_AUDIENCE "CUBED_HTTP_AUDIENCE audience"
#define CB_OIDC_OPTIONS  CB_OIDC_COMMAND " " CB_OIDC_FILE " " CB_OIDC_FROM " " CB_OIDC_AUDIENCE

#endif
