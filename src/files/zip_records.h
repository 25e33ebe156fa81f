/* Sizes of the fixed parts of records in a zip archive (APPNOTE.TXT of PKWARE, section 4.3), in bytes. */
#ifndef CB_FILES_ZIP_RECORDS_H
#define CB_FILES_ZIP_RECORDS_H

enum {
    CB_ZIP_LOCAL = 30,   /* local file header */
    CB_ZIP_CENTRAL = 46, /* header of the central directory */
    CB_ZIP_END = 22,     /* end of the central directory */
    CB_ZIP_END64 = 56,   /* end of the central directory, Zip64 */
    CB_ZIP_LOCATOR = 20  /* locator of the Zip64 end record */
};

#endif
