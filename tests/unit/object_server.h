/* A server on this machine with the parts of the protocols that the library uses: S3, Google Cloud Storage (JSON, and XML for
 * HMAC keys), Azure blobs, plain HTTP and Redis; and AWS Lambda, whose functions run in the process that polls the runtime
 * interface. These functions also serve /endpoint, whose requests and replies are bytes. Signatures are not checked, because other tests check them. */
#ifndef CUBED_OBJECT_SERVER_H
#define CUBED_OBJECT_SERVER_H

#include <stddef.h>

typedef struct object_server object_server;

/* Ends the process if the server cannot start. */
object_server *object_server_new(void);
void object_server_free(object_server *s);
/* Ends all waits for invocations: there are no more. */
void object_server_close(object_server *s);
int object_server_port(const object_server *s);
/* Answers the next `times` requests whose first line contains `what` with the code and the body; code 0: closes the connection
 * without a reply. */
void object_server_fail(object_server *s, const char *what, int code, const char *headers,
                        const char *body, int times);
/* Removes all such replies. */
void object_server_forgive(object_server *s);
/* Sets the reply for a path of a service that gives credentials. */
void object_server_say(object_server *s, const char *path, const char *body);
/* Returns the number of requests whose first line, headers or body contain `what`. */
int object_server_count(object_server *s, const char *what);
/* Adds an object that no request has put. */
void object_server_put(object_server *s, const char *name, const void *data, size_t size);

#endif
