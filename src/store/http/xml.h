/* The subset of XML in replies of object stores: elements and text; attributes are ignored. */
#ifndef CB_STORE_XML_H
#define CB_STORE_XML_H

#include "base/alloc.h"

typedef struct cb_xml_part {
    const char *text; /* raw text between the tags */
    size_t size;
} cb_xml_part;

/* Finds the next element with this name in *rest at any depth, and advances *rest past it. Returns false if there is none.
 * An element must not contain an element of the same name. */
bool cb_xml_next(cb_xml_part *rest, const char *name, cb_xml_part *out);
/* Finds the first element with the name. */
bool cb_xml_find(cb_xml_part in, const char *name, cb_xml_part *out);
/* Appends the text of an element with entity and character references (such as "&amp;") resolved. Returns false if a reference is
 * invalid. */
bool cb_xml_put_text(cb_buf *out, cb_xml_part part);
/* Appends text escaped for an element. Returns false if it contains characters that XML forbids. */
bool cb_xml_escape(cb_buf *out, const char *text);

#endif
