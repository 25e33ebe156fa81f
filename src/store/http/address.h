/* Kinds of network addresses. */
#ifndef CB_STORE_ADDRESS_H
#define CB_STORE_ADDRESS_H

/* How far other machines are from an address: a redirect never leads to a nearer one. */
typedef enum cb_address_kind {
    CB_ADDRESS_PUBLIC,
    CB_ADDRESS_PRIVATE, /* of a local network */
    CB_ADDRESS_LINK_LOCAL, /* also of the services by which clouds give credentials to their machines */
    CB_ADDRESS_LOOPBACK,
    CB_ADDRESS_ANY, /* of limits alone: any kind of address */
} cb_address_kind;

/* Of a numeric address, of IPv4 or IPv6, or of "localhost" and names below it; CB_ADDRESS_PUBLIC for other names. Addresses of IPv4
 * within IPv6 are what they are in IPv4. */
cb_address_kind cb_address_kind_of(const char *host);

#endif
