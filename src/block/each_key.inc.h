/* Includes the template CB_KEY_TEMPLATE for each width of keys: K is the type of keys, BITS its number of bits. The template ends
 * with #undef of both. */
#define K    uint8_t
#define BITS 8
#include CB_KEY_TEMPLATE
#define K    uint16_t
#define BITS 16
#include CB_KEY_TEMPLATE
#define K    uint32_t
#define BITS 32
#include CB_KEY_TEMPLATE
#define K    uint64_t
#define BITS 64
#include CB_KEY_TEMPLATE
#undef CB_KEY_TEMPLATE
