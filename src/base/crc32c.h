/* CRC-32C (RFC 3720, polynomial 0x1EDC6F41). */
#ifndef CB_BASE_CRC32C_H
#define CB_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Extends the checksum `before` of preceding bytes by n bytes; `before` is 0 for the first bytes. */
uint32_t cb_crc32c(uint32_t before, const void *bytes, size_t n);

#endif
