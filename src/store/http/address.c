#include "store/http/address.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

typedef struct range4 {
    uint32_t base, mask;
    cb_address_kind kind;
} range4;

static cb_address_kind kind_of_4(uint32_t a)
{
    static const range4 ranges[] = {
        {0x7f000000, 0xff000000, CB_ADDRESS_LOOPBACK},   /* 127.0.0.0/8 */
        {0x00000000, 0xff000000, CB_ADDRESS_LOOPBACK},   /* 0.0.0.0/8 reaches this machine */
        {0xa9fe0000, 0xffff0000, CB_ADDRESS_LINK_LOCAL}, /* 169.254.0.0/16 */
        {0x646464c8, 0xffffffff, CB_ADDRESS_LINK_LOCAL}, /* 100.100.100.200: Alibaba's metadata */
        {0xa83f8110, 0xffffffff, CB_ADDRESS_LINK_LOCAL}, /* 168.63.129.16: Azure's host */
        {0xc00000c0, 0xffffffff, CB_ADDRESS_LINK_LOCAL}, /* 192.0.0.192: Oracle's metadata */
        {0x0a000000, 0xff000000, CB_ADDRESS_PRIVATE},    /* 10.0.0.0/8 */
        {0xac100000, 0xfff00000, CB_ADDRESS_PRIVATE},    /* 172.16.0.0/12 */
        {0xc0a80000, 0xffff0000, CB_ADDRESS_PRIVATE},    /* 192.168.0.0/16 */
        {0x64400000, 0xffc00000, CB_ADDRESS_PRIVATE},    /* 100.64.0.0/10 */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if ((a & ranges[i].mask) == ranges[i].base) return ranges[i].kind;
    }
    return CB_ADDRESS_PUBLIC;
}

static cb_address_kind kind_of_6(const uint8_t a[16])
{
    static const uint8_t zeros[16] = {0}, mapped[12] = {[10] = 0xff, [11] = 0xff};
    static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    static const uint8_t amazon[16] = {0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54};
    const uint32_t last =
        (uint32_t)a[12] << 24 | (uint32_t)a[13] << 16 | (uint32_t)a[14] << 8 | a[15];
    if (memcmp(a, zeros, 15) == 0 && a[15] <= 1) return CB_ADDRESS_LOOPBACK; /* :: and ::1 */
    if (memcmp(a, mapped, 12) == 0 || memcmp(a, nat64, 12) == 0 || memcmp(a, zeros, 12) == 0)
        return kind_of_4(last);
    if (a[0] == 0x20 && a[1] == 0x02) /* 2002::/16 contains an IPv4 address */
        return kind_of_4((uint32_t)a[2] << 24 | (uint32_t)a[3] << 16 | (uint32_t)a[4] << 8 | a[5]);
    if (a[0] == 0xfe && (a[1] & 0xc0) == 0x80) return CB_ADDRESS_LINK_LOCAL; /* fe80::/10 */
    if (memcmp(a, amazon, 16) == 0) return CB_ADDRESS_LINK_LOCAL;            /* fd00:ec2::254 */
    if (a[0] == 0xfe && (a[1] & 0xc0) == 0xc0) return CB_ADDRESS_PRIVATE;    /* fec0::/10 */
    return (a[0] & 0xfe) == 0xfc ? CB_ADDRESS_PRIVATE : CB_ADDRESS_PUBLIC;   /* fc00::/7 */
}

cb_address_kind cb_address_kind_of(const char *host)
{
    static const char local[] = "localhost";
    char text[CB_MOST_HOST];
    struct in_addr four;
    struct in6_addr six;
    size_t n = strlen(host);
    if (n >= sizeof text) return CB_ADDRESS_PUBLIC;
    memcpy(text, host, n + 1);
    while (n > 1 && text[n - 1] == '.') text[--n] = 0;
    text[strcspn(text, "%")] = 0; /* remove the zone of an IPv6 address */
    if (inet_aton(text, &four)) return kind_of_4(ntohl(four.s_addr));
    if (inet_pton(AF_INET6, text, &six) == 1) return kind_of_6(six.s6_addr);
    const size_t skip = sizeof local - 1;
    if (n >= skip && strcasecmp(text + n - skip, local) == 0 &&
        (n == skip || text[n - skip - 1] == '.'))
        return CB_ADDRESS_LOOPBACK;
    return CB_ADDRESS_PUBLIC;
}

void cb_host_of(const char *url, char host[CB_MOST_HOST])
{
    const char *from = strstr(url, "://");
    from = from ? from + 3 : url;
    const size_t n = strcspn(from, "/?#");
    const char *at = NULL;
    for (size_t i = 0; i < n; i++) {
        if (from[i] == '@') at = from + i;
    }
    const char *end = from + n;
    if (at) from = at + 1;
    if (*from == '[') {
        from++;
        end = from + strcspn(from, "]");
    } else {
        const size_t k = strcspn(from, ":");
        if (k < (size_t)(end - from)) end = from + k;
    }
    const size_t length =
        (size_t)(end - from) < CB_MOST_HOST ? (size_t)(end - from) : CB_MOST_HOST - 1;
    memcpy(host, from, length);
    host[length] = 0;
}
