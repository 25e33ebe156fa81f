#include "runtime/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

void cb_wire_hello_init(cb_wire_hello *h)
{
    memset(h, 0, sizeof *h);
    memcpy(h->version, CUBED_VERSION_STRING, sizeof CUBED_VERSION_STRING);
    h->range_size = sizeof(cubed_task_range);
    h->report_size = sizeof(cubed_task_report);
}

bool cb_wire_send(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

bool cb_wire_receive(int fd, void *data, size_t size)
{
    char *at = data;
    while (size > 0) {
        ssize_t n = recv(fd, at, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}
