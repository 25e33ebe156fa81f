/* As much of XML as the replies of object stores have: elements and text, no attributes that matter. */
#ifndef CB_STORE_XML_H
#define CB_STORE_XML_H

#include "base/alloc.h"

typedef struct cb_xml_part {
    const char *text; /* between the tags, as it stands there */
    size_t size;
} cb_xml_part;

/* The next element of that name in *rest, at any depth, and then *rest is what is behind it. False: there is none. An
 * element must not hold one of its own name. */
bool cb_xml_next(cb_xml_part *rest, const char *name, cb_xml_part *out);
/* The first one. */
bool cb_xml_find(cb_xml_part in, const char *name, cb_xml_part *out);
/* Appends the text with references resolved. False for a reference that is none. */
bool cb_xml_put_text(cb_buf *out, cb_xml_part part);
/* Appends text as that of an element. False if it has characters that no document may have. */
bool cb_xml_escape(cb_buf *out, const char *text);

#endif
