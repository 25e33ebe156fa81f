/* A server on this machine that speaks as much as the library asks of S3, of Google's Cloud Storage (JSON, and XML for who
 * has HMAC keys), of Azure's blobs, of plain HTTP and of Redis; and of AWS Lambda, whose functions are run by
 * who asks the runtime's interface for invocations. Signatures are not looked at: they have tests of their own. */
#ifndef CUBED_OBJECT_SERVER_H
#define CUBED_OBJECT_SERVER_H

#include <stddef.h>

typedef struct object_server object_server;

/* Ends the process where it cannot be had. */
object_server *object_server_new(void);
void object_server_free(object_server *s);
/* There are no more invocations, for who waits for one. */
void object_server_close(object_server *s);
int object_server_port(const object_server *s);
/* The next `times` requests in whose first line `what` is are answered by the code and the body, code 0: by no word. */
void object_server_fail(object_server *s, const char *what, int code, const char *headers,
                        const char *body, int times);
/* Nothing of the kind any more. */
void object_server_forgive(object_server *s);
/* What a path is answered by: of services that give credentials. */
void object_server_say(object_server *s, const char *path, const char *body);
/* How many requests had `what` in their first line or their headers, or a body that has it. */
int object_server_count(object_server *s, const char *what);
/* An object that nobody put. */
void object_server_put(object_server *s, const char *name, const void *data, size_t size);

#endif
