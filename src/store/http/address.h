/* Kinds of network addresses. */
#ifndef CB_STORE_ADDRESS_H
#define CB_STORE_ADDRESS_H

/* Kinds of addresses, in the order from far (public) to near (this machine). A redirect never leads to an address of a nearer
 * kind. */
typedef enum cb_address_kind {
    CB_ADDRESS_PUBLIC,
    CB_ADDRESS_PRIVATE, /* the address is in a local network */
    /* The address is link-local; such addresses include services that give credentials to cloud machines. */
    CB_ADDRESS_LINK_LOCAL,
    CB_ADDRESS_LOOPBACK,
    CB_ADDRESS_ANY, /* only used as a limit: addresses of any kind are allowed */
} cb_address_kind;

/* Classifies a numeric address of IPv4 or IPv6, or "localhost" and names below it. Other names are CB_ADDRESS_PUBLIC. An IPv6
 * address that contains an IPv4 address has the kind of the IPv4 address. */
cb_address_kind cb_address_kind_of(const char *host);

enum { CB_MOST_HOST = 256 };

/* Extracts the host of a URL without user, port and brackets, and truncated to its maximum length. */
void cb_host_of(const char *url, char host[CB_MOST_HOST]);

#endif
