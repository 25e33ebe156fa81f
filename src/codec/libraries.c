/* Versions of the libraries that libcubed was built with, for `cubed --version`. */
#include <blosc.h>
#include <jansson.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>
#if defined(__x86_64__)
#include <sleef.h>
#endif
#ifdef CB_HAVE_HTTP
#include <curl/curlver.h>
#include <openssl/opensslv.h>
#define HTTP ", libcurl " LIBCURL_VERSION ", OpenSSL " OPENSSL_VERSION_STR
#else
#define HTTP ""
#endif

#ifdef CB_HAVE_LZMA
#include <lzma.h>
#define LZMA ", liblzma " LZMA_VERSION_STRING
#else
#define LZMA ""
#endif

#ifdef CB_HAVE_LIBDEFLATE
#include <libdeflate.h>
#define DEFLATE ", libdeflate " LIBDEFLATE_VERSION_STRING
#else
#define DEFLATE ""
#endif

#ifdef CB_NETCDF_LIBRARY
#include <netcdf_meta.h>
#define NETCDF ", netCDF " NC_VERSION
#else
#define NETCDF ""
#endif

#ifdef CB_HAVE_ZFP
#include <zfp/version.h>
#define ZFP ", zfp " ZFP_VERSION_STRING
#else
#define ZFP ""
#endif

#ifdef CB_HAVE_PCODEC
#define PCO ", pco " CUBED_PCO_VERSION
#else
#define PCO ""
#endif

#include "cubed/base.h"

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

const char *cubed_libraries(void)
{
    return "c-blosc " BLOSC_VERSION_STRING ", zstd " ZSTD_VERSION_STRING ", zlib " ZLIB_VERSION
           ", lz4 " LZ4_VERSION_STRING ", bzip2 " CUBED_BZIP2_VERSION ", jansson " JANSSON_VERSION
#if defined(SLEEF_VERSION_MAJOR)
           ", SLEEF " TEXT(SLEEF_VERSION_MAJOR) "." TEXT(SLEEF_VERSION_MINOR) "." TEXT(
               SLEEF_VERSION_PATCHLEVEL)
#endif
               LZMA ZFP PCO DEFLATE HTTP NETCDF;
}
