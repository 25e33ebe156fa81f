/* Preloaded into a server that would listen on all addresses of the machine: it listens on the loopback's alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

typedef int (*bind_fn)(int, const struct sockaddr *, socklen_t);

static int bind_as_it_was(int fd, const void *address, socklen_t size)
{
    bind_fn fn;
    void *symbol = dlsym(RTLD_NEXT, "bind");
    memcpy(&fn, &symbol, sizeof fn);
    return fn(fd, address, size);
}

int bind(int fd, const struct sockaddr *address, socklen_t size)
{
    struct sockaddr_in6 six;
    struct sockaddr_in four;
    if (address->sa_family == AF_INET6 && size >= sizeof six) {
        memcpy(&six, address, sizeof six);
        /* Of IPv4, too: 127.0.0.1, as that family spells it. */
        static const unsigned char loopback[16] = {[10] = 0xff, 0xff, 127, [15] = 1};
        if (IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr)) memcpy(&six.sin6_addr, loopback, 16);
        return bind_as_it_was(fd, &six, sizeof six);
    }
    if (address->sa_family == AF_INET && size >= sizeof four) {
        memcpy(&four, address, sizeof four);
        if (four.sin_addr.s_addr == htonl(INADDR_ANY))
            four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return bind_as_it_was(fd, &four, sizeof four);
    }
    return bind_as_it_was(fd, address, size);
}
