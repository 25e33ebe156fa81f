/* The library's stores of other machines: rows of the registry. */
#ifndef CB_STORE_REMOTES_H
#define CB_STORE_REMOTES_H

#include "store/net.h"

/* s3://BUCKET/PATH: Amazon's S3, and what speaks like it. */
CUBED_MUST_CHECK cubed_status cb_s3_open(cb_net *net, const char *url, cubed_store **out,
                                         cubed_error *err);
/* gs://BUCKET/PATH: Google's Cloud Storage. */
CUBED_MUST_CHECK cubed_status cb_gcs_open(cb_net *net, const char *url, cubed_store **out,
                                          cubed_error *err);
/* az://CONTAINER/PATH, az://CONTAINER@HOST/PATH: Azure's blobs. */
CUBED_MUST_CHECK cubed_status cb_azure_open(cb_net *net, const char *url, cubed_store **out,
                                            cubed_error *err);
/* redis://HOST:PORT/DB/PATH: without libcurl, too. */
CUBED_MUST_CHECK cubed_status cb_redis_open(cb_net *net, const char *url, cubed_store **out,
                                            cubed_error *err);
/* http://HOST/PATH and https://: reading alone. */
CUBED_MUST_CHECK cubed_status cb_web_open(cb_net *net, const char *url, cubed_store **out,
                                          cubed_error *err);

#endif
