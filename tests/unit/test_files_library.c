/* Files that HDF5 and NetCDF have written, with tables of names and chunks that need many entries. They are small as
 * zlib.compress(bytes, 9) in base64, and made with libver="latest" unless a comment states otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "files_test.h"

/* h5py: g = f.create_group("g"); for i in range(50): g["n" * 60 + f"{i:02}"] = h5py.SoftLink("/x")
 * g["x"] = np.int8(7); for i in range(32): g.attrs[f"a{i:02}"] = np.full(12, i, "u1") */
static const char many_names[] =
    "eNrtW31sU1UU/73Xbivd2NhGWRmoMEEHWunr677UABtjdA5HAwOU+ocfgAYRhCEsiIIocSiOREKUsYDlUxDBKYIFQSEB"
    "0TATPwA/kI8gaxYXCCQYNtT63u179HTOPEzvH4b198fO6X33d+7tueece9/dttRTWtbdmm01WSzQEdJwvxz+7NTa1zd+"
    "9sgYT+lYETViBu2owypCABJToAjhyY90ex5ww7qM7W42BWG6GJ7DXabwk32aDM/BlgEzUJwZbvtOk8gXEUcc/x0Fmy9W"
    "lY31eJGkfBDRA/9IlneE8OdzWhxe79NByjc4olkdR0PYdD9FBl3hFhGOptQdJVWeUiSo/ZKVZ5Nz8xL1/voomebRU8vG"
    "Kb2gz09Pc8s/xvOiRhlDH60iO9xejGg55I2J/pKq0WVI2FRvExFUkr0Mb386x4rqbqp66cUfkmGzqOpXK1dmoDpJVaeU"
    "inYETKo6yu6xw8c6ZF78zI5qQVV7BxdlI8D6DkpryoGDGXv2g60D4WC08Y80DEaQ0bbOqHPDlqiqr9RPKkOgu6puqd/z"
    "ABzMguRuqIAtVVUrjxaMh19U1e2vjp6AIFT1yOgVj6Oa2d3W57bJCLDRFm7YMBPVzNiuL5pnwsHUmqwzz8PHLEzwXloA"
    "R4Kq/uR4eSECTO07SXwFPquqfnh26esIsC+0YM7wevjZfKfXnJZuqmwoqSqvRILz3omr4WPLkGcOP+iTp4VVVrqYG6+1"
    "NyvC+b968ZoGBFncrxs7Yi38TB26crcfNlYVnrDvX4egWVVvvzp3A3xMHfJxaCtsLA29BfN3wMZai/edb4Sftc57v3Yn"
    "bCzhNvfu9jGqk1V1WvaP++Bg6vAG7xfws8Cb3f/CUfgYbUXr2Sb4mbH8L586hmqWnPsPVJxAgNHmf13xM2xsknuleacQ"
    "ZBbSR844Cx+b7+mrJy7Dz9Tk33e2IRiew5Jt7fApxSQFoZJj1+Bg6X3XxYV7uuz6h09gEARtkzKlQOhh0XcOCxKUM5jJ"
    "alHOZyahOJnuYQqO3Dx+mOX94+ekeDmII4444ogjji4Hditg+bdbgVrtfagts8NtQIfX8H43fitgjr4VyFVkY47eYk1a"
    "so/dCljUg1k6uxWo6KU/1UeZE0i0h28FdkK/T4iW0bcCuddHW6bdCgxEtNwY/PUQeyuw4JRy7kaR6gKgsj0tGdNJw7T6"
    "wznYSBru3D11ELISIw2rhg8uwEEx0pDgzBuKA+ZIQ0rVgmKw76Q12Cs2lcBLKKmH54xCLemx339lFHoRG89NGVeJpYQi"
    "z0+owhhCsS1/eDzGEMp925N9uEZm2la10Ad3UqThjrqWWZguRBr27nl/tr81p6GrvBWWVyrr/4yJOMCz64WKnlrkV9jD"
    "StqZ9gHb4oXj5rwVsKCW5MyG9edfwAGSVY7GB1/CKZIiodJzi3GNJOLIDx5bAjeJodq6EXXIIj1GzLtch3Yyiuublh1Y"
    "SjLzvr++/QQbySj3Xjj8OWRSdmb++ssRHCSUYa+9dw7tZKbtLweasYnM49C7fVsgE6M5q2dfgZfYuDC8ue24ZVFdV90J"
    "x40bef36O0lxVEh1VkhtCKmuD6mlMtRN/aHeCYS6q7vKKgFPpipKK9aGmAF9pxT6A6eZMWEF8Ax7zU4rEpaUeUpLrv9i"
    "h22Gbz3detSkaClQKs1jUgHbY/WrCFEQhBStsy7TCQix0JCYQUCIRYbETIII0eU0JPYkIETJkGgjIESXIbEXASHKhsQs"
    "AkJ0GxLtBISYZ0jsTUCI+YbEbAJCNI6cPgSEaBw5fQkI0ThybiGIEGXjyLmVgBCNI+c2gv9jlYnKfxX3/LajMPINncau"
    "oSBEY9cIBIRonFQiASEaJ5WJIkI0TiozASEaJ1UCASEaJ1UiASEaJ1USASEaJ5WFgBCNk6obAanjxpFjJSBE48hJJiBE"
    "48hJISBE48jpTkCIxpGTSkCIxpGTRkCIxpHTg+AG8r+8Q/433qrJ7Oh3bx3fV3qbWdXQ/1QEyoFj8/HXdwkWYeiMGOAu"
    "EjGkRoBQk2eNH///32fTqPVXAm+I3HQy5vV3sfWP1YrMxYqbi5U8LlbyuVgp4GKlULXSYf2VbG3581JRrLZlLt6SuXhL"
    "5uItuZCLlSIuK+fkYkXqZP0twJsnHx0Yq20XF2+5uHhL5uItWeJihUtdlLnURdndyfonAuusyyfFvHJcvOXi4i0XF2+5"
    "uOwiLi510cWlLroKOll/M7BmkGdZrLYlLt6SuHhL4uIticsuInGpixKXuuhydrL+IhA4fKEpVttOLt5ycvGWk4u3JC67"
    "iMSlLkpc6qIkd7L+CrbM3T0sZp9z8ZaTi7ecXLzl5LKLOLnURSeXuujM19a/PHr9g9o/tQTv0eTdmhysyVxN3qHJAZrU"
    "ftU+7SHfsL8BHEl03A==";

/* h5py: f.attrs["large"] = np.zeros(70000, "i1") */
static const char large_attribute[] =
    "eNrt1T9LHEEYB+B39g5ZjgTuREHTpLUJWNmIzXEeVwiKWNgKCRJiIYKYlJYWgnZ2FmIlAcFa/Ajp8gms01iLrueu/1DS"
    "XCXPw8Lszvzm5WV3YXZ6ne7HxqdGLc+jclM6HE/958ly/uLf9uV8r7OYxc9s+Gmw0sii2DE6HPWIs3LTbCpv2jEAK8uf"
    "r7qLvYW46zaLZkRV/kd6nqx6+l/Fw9b9xvTGer1/xZPMRDE+Vj+pX/9qL/U6RUdZRKtY/zqxX6vyVdX989ZxP5XuUmP3"
    "qfQy9fdg87S9NNctJvLXu/sy8+coeMf63z9vpoffOGJ6a/dk6vveby8HGKRaDMWHGIlYW9lY/RbNvDpriuMspbRenj/V"
    "CAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM"
    "3i0ew06r";

/* h5py, with fillvalue=9 where there is one; of "fixed" elements 0, 1500 and 2999 were written, of "grows" 0, 100, 2500 and
 * 70000, each as its number modulo 251:
 * f.create_dataset("fixed", (3000,), "u1", chunks=(1,))
 * f.create_dataset("grows", (70001,), "u1", chunks=(1,), maxshape=(None,))
 * x = f.create_dataset("tree", (80, 1), "u1", chunks=(1, 1), maxshape=(None, None), compression="gzip"); x[i, 0] = i
 * f.create_dataset("single", (4,), "i2", chunks=(4,), compression="gzip")[...] = [5, 6, 7, 8]
 * "implicit": <i2 1 to 5 in chunks of 2 and with ALLOC_TIME_EARLY; "spared": <i2 1 to 4 in chunks of 2 with gzip, of which the
 * second was written by write_direct_chunk(..., filter_mask=1) */
static const char many_chunks[] =
    "eNrtnWtsVHUaxt//mWtnWjqlLZdya2mhhbbcSrlDaZneaGlZZLPuqpMqrU1XFBYwTuIlaqKJGNRdP6ybXY1+2GTxw66C"
    "CUZN5MP6gWTduLvJiroRs5pojBqIt8TE4HNmzkB5faOuayyF59eQ88x/fufpmf+cy3SmpPf1pLtKElWJUDwuBc4G/PRo"
    "/vayYPw/dfVXD/akd3iS9aaOFwskPHEiqZTI59H8Kj3BqlGMOYmM7ttzy/43XDBW6o+FD+wbGVkaCobK/KHo/rGbRneP"
    "1DwSrHx+y+Qnr99am9sEJ85ViHjOuWeT+fsKy1CxOHw7ccHKkZi4UKN/qyiO/rCXWyuUeDHYDnlGJiU1i/eUdrX3pPEY"
    "E4XHLqn8YrD7zuN6nn5V5i54er9pnirPzVO4OhxOJd71gv6nJt88DaRfaejMz1N1OBVOFB7K7iAE+550LMovC/NUF8nf"
    "Xh8Ods7+QwvPzWkd5hTTsz1Y16lD5zvMcRJ3oUH8L/87xKeLRDwJYc5dxN/nhxv+ERxF8sDFNqdVx979b2d7b4dIYc8I"
    "xe0Z+DZGIv/berdGv5v/6c3fb3t+aIb+dvCxzvb0uJl66CLYqnB8Ymdnc+qq33e2XzFuVk7Hzm/NqRu/39bdcdPAXzp2"
    "4khP+sdPHQ6s4YbmJwpHaOFY9Y6dOjO4pacvuCZdP5YdGT5auE6V+2PxsRv37h7bNXag+ekLr0t7r903Mtx7JD949ZUn"
    "RnPnX1dx7pxyVSy//NN9T7/W5T/rri0Y+TyRXxaPO4o+DsbC484idx88cejHPJI//UiGz7yZzezKfX+HgK3BqR/B88+N"
    "IYSov4lhBGxgRCIIOGijEkXAyTMmMYSYf3qLZzNv++c2KUJAT0ISCOhJShIh6j/8YgT0lEgJAnqmyBQE9JRKKULMv4al"
    "shk8EVImZQjomSpTEdBTLuUI6KmQCgT0VEolAnqmyTQE9EyX6QjomSEzspmH0TNTZiKgp0qqENAzS2YhoGe2zEZAzxyZ"
    "g4CeuTIXAT3zZB4CeqqlOpu5wr/iSg0CeubLfAT01EotQtTf2eoQ0LNAFiCgZ6EsREBPvdQjoKdBGrKZf6FnkSxCQM9i"
    "WYyAnkZpREBPkzQhoKdZmhHQs0SWIKBnqSxFiPmvx5ZlMy3oWS7LEdCzQlYgoKdFWhDQs1JWIqCnVVoR0LNKViGgZ7Ws"
    "RkDPGlmTzfh7/lpZi4CedbIOAT3rZT0CejbIBgT0bJSNCOjZJJsQ0NMmbQjo2Sybs5n96GmXdgT0dEgHAnq2yBYE9KQl"
    "jYCeTulEQE+XdCGgp1u6EWL+i8WebOZj9PRKLwJ6tspWBPT0SR8CevqlHwE922QbAnoGZAABPYMyiICe7bLdYRcOYaf1"
    "Ly7YOUeGdg2NvjWEG3fKLH8cY8ND1+UOx7AQQsjlSO5FihR+FH7rzJHWV2WCXxsSQgghhBBCCCGEEEIIIYQQQggh5P+n"
    "75ZHX+EsEEIIIYQQQgi5FHD8HXdCCCGEEEIIIYRc5jx110vlnAVCCCGEEEIIIYQQQgghhBBCCJlYvOB320/e+4ufXfiX"
    "h07H+RvvhBBCJoYI/+fVhPLaQPlu9Zf3zn77s5HM8lm7lHn/y/qT6rViqeOzTQghhBBCyCVElD+LE0IIIYQQQgghhBBy"
    "2fJk0+2hwZ70Ds+JcxUinnMunH/LUArLULG4VBz35W6lJOKJCyWTGIUt/pdvxmcL7vE8F/ZcSs7zdiIIj8lFzuoPDoU6"
    "dvZ3STIWvGta9A12ynCccmYajqec+YYTUk6j4YSVs9JwIsrZaDhR5XQZTkw5g4YTV86VhqPn81rDSSjnl4aTVM5+wylW"
    "zm2GU6KcewxninIeMJxS5fzWcFLKedxwypRz2HCmKueI4ZQr53nDqVDOXw2nUjkvG8405fzbcKYr55ThzFDOe4YzUzln"
    "DKdKOV8Yzizl7C3/9TohhFzmdOzsHZBkqOjr54zZymz+XTDefDgfWqTkNyc5g4QQQshkvP77P/8XG9f/OcqsNJy5yplr"
    "OPOUU2841cpZZjg1yllrOPP1ozOcWuX0GU6dcnYazgLlXGM4C5VzveHUK2eP4TQoJ2s4i5Rzl+EsVs5Bw2lUzsOG06Sc"
    "PxhOs3L+aDhLlPNnw1mqnGOGs0w5xw1nuXJOGM4K5fzTcFqU84bhrFTOO4bTqpwPDWeVcj4znNXKOWs4a5QTT3zdWauc"
    "MsPRbxpUGc565dQazgblNBnORuW0Gs4m5WwynDbldBvOZuVsN5x25fzccDqUc53hbFHODYaTVs4Bw+lUzu2G06Wcew2n"
    "WzkPGk6Pch4xnF7lPGE4W5XzpOH0Keeo4fQr5wXD2aaclwxnQDl/N5xB5Wx4eUfbpXP9z30WUnP6/vgN4/+d/2yk8I56"
    "YWl+NlIUT4kLe1jB87xXC29oPzeZ5+V42ZzXf6DPicr8z4lycxNKtBU+WTg8iebizW2jn3wFlW3Kgg==";

/* netCDF4, as it is by default: dimensions t without an end and y of 2; int16 t(t, y) = [[1, 2], [3, 4], [5, 6]],
 * y(y) = [7, 8] and short(t) of which the first of three is 9, in a chunk of 2, fill_value=-1 */
static const char dimensions[] =
    "eNrtms9P01AcwN973WbFMhb5JYaDWXQmQOqYyA2TpSswHZuuhOgJJyuhZmy6VRNuJujBq5hwNp48ERMT/wU9eyEmHr1w"
    "kIt37fvF1hdG5CBG8/0sXftev+/7q6/r+y59MZ+b7e0530N0HUl+ClZN3k6L/ssja+Ol+VyZGO9JkvVoEWWISg9BmJ6P"
    "DdBvLMUR9vfF0eAoor0a7qojkaBy2xqXd8Q4qZFIjRuOOOTy60I+dRDW1taKz9zvvYPxRdpDCMZCDBElEtnWDBpBQpcS"
    "CRTVaY82Ttv4Kbf2qY9Lbx8EGAou2jU4w2ZG0AAygg0tF11/pbo6ZTUazapXr/hui9nmibuAAocxUTyW5oxxutdQDOlU"
    "3ipkHQf1M5e5cC6/YBedfKm47FjZgo2MUdqvoSgfUMwu2EyeiM1nKrXgEw+8i7S9y3nrXjXsl/Bj89HeKM9xHGN2hQ7z"
    "uGtOxzpzmoxz6dvKTIl0T2b22MnEoev1hxK5QTPzffBKyZq/GTvH562cd9HWWqPpt0Sszz7uXH3+5c0clZRTI861Lhet"
    "W83GQ7fpe0EcVH1SqH/iNlteoz6TmaizgGemzMm0OTmxVl29NpMxM2b6+uvdr4tl26ZRqUmLoKNJDvF9RMmUSkqRI13k"
    "xobCbfUGJAgAAAAAAAD4m9ClqH6WrdSwqazxjlUf0IXjyw93N3l9cKOjPsBK7XV0zSUrwnsJPqp8kvUBi3qa1wdnhJpZ"
    "r1ZbqtQeuyGXDxsduFDgpUJfIDHQWUkU8s4iGhFFxnCw6UpyOveZoVDf528/6uwyDbP4iLantc/LIsSo0cio5TS1XLZn"
    "7bJdtGxueZpwy9WKX2m5ftuFqrfu1ml5gfQEOjo3soiRvHv7IM/c6udukUyqvcQnx50+lJ1L0VdwRwIAAJwMmD2vIiiK"
    "YuhU8EiYs0oFjMSDquPXX/5/vK+M3+2DHAIAAAAAAAAAAADAvwZ/jwT/9nsk981wG97zAAAAAID/n9PBSuEXAntRMg==";

/* Sizes of the decompressed files in bytes. */
enum { DENSE_SIZE = 13116, HUGE_SIZE = 72095, CHUNKS_SIZE = 45909, DIMS_SIZE = 11878 };

static cubed_store *open_text(void **state, const char *text, size_t size)
{
    unsigned char *bytes = inflated(text, size);
    cubed_store *s = open_bytes(*state, bytes, size);
    free(bytes);
    return s;
}

/* Names are in a heap of several blocks, which a tree of two levels indexes. */
static void test_many_names(void **state)
{
    cubed_store *s = open_text(state, many_names, DENSE_SIZE);
    char word[64];
    expect_keys(s, "", "zarr.json g/zarr.json g/x/zarr.json g/x/c ");
    expect_object(s, "g/x/c", "\7", 1);
    for (int i = 0; i < 32; i++) {
        snprintf(word, sizeof word, "\"a%02d\": [%d, %d, %d, %d, %d", i, i, i, i, i, i);
        expect_words(s, "g/zarr.json", word);
    }
    cb_store_close(s);
}

/* Each byte of it is damaged once: the result is an error or not, but never a crash. */
static void test_damaged_names(void **state)
{
    unsigned char *bytes = inflated(many_names, DENSE_SIZE);
    int refused = 0;
    for (size_t i = 0; i < DENSE_SIZE; i += 13) {
        cubed_store *within = memory_store(&cb_system_allocator), *s = NULL;
        cubed_error err = CUBED_ERROR_INIT;
        const unsigned char before = bytes[i];
        bytes[i] ^= 0xff;
        put_bytes(within, "file", bytes, DENSE_SIZE);
        bytes[i] = before;
        const cubed_status st = cb_file_open(*state, within, "file", "memory://t/file", &s, &err);
        if (st == CUBED_OK)
            cb_store_close(s);
        else
            assert_non_null(strstr(err.message, "memory://t/file"));
        refused += st != CUBED_OK;
    }
    assert_true(refused > 100);
    free(bytes);
}

static void test_large_attributes(void **state)
{
    unsigned char *bytes = inflated(large_attribute, HUGE_SIZE);
    expect_refused(*state, bytes, HUGE_SIZE, CUBED_E_UNSUPPORTED,
                   "attributes of more than 64 KiB are not supported");
    free(bytes);
}

static void expect_byte(cubed_store *s, const char *name, int i, unsigned char value)
{
    char key[64];
    snprintf(key, sizeof key, "%s/c/%d", name, i);
    expect_object(s, key, &value, 1);
}

/* Tables of so many chunks that they are read in pages, most of which were never written. */
static void test_pages_of_chunks(void **state)
{
    cubed_store *s = open_text(state, many_chunks, CHUNKS_SIZE);
    static const int fixed[] = {0, 1500, 2999}, grows[] = {0, 100, 2500, 70000};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        expect_byte(s, "fixed", fixed[i], (unsigned char)(fixed[i] % 251));
    for (size_t i = 0; i < sizeof grows / sizeof *grows; i++)
        expect_byte(s, "grows", grows[i], (unsigned char)(grows[i] % 251));
    expect_failure(s, "fixed/c/1499", CUBED_E_NOT_FOUND, "fixed/c/1499");
    expect_failure(s, "grows/c/69999", CUBED_E_NOT_FOUND, "grows/c/69999");
    expect_keys(s, "fixed", "fixed/zarr.json fixed/c/0 fixed/c/1500 fixed/c/2999 ");
    expect_words(s, "grows/zarr.json", "\"shape\":[70001]");
    expect_words(s, "grows/zarr.json", "\"fill_value\":9");
    cb_store_close(s);
}

static void expect_inflated(cubed_store *s, const char *key, const void *bytes, size_t n)
{
    unsigned char out[64];
    uLongf got = sizeof out;
    cb_buf b;
    cb_buf_init(&b, &cb_system_allocator);
    assert_int_equal(cb_store_read_all(s, key, 4096, &b, NULL), CUBED_OK);
    assert_int_equal(uncompress(out, &got, (const Bytef *)b.data, (uLong)b.size), Z_OK);
    assert_int_equal(got, n);
    assert_memory_equal(out, bytes, n);
    cb_buf_free(&b);
}

static void test_tables_of_other_kinds(void **state)
{
    cubed_store *s = open_text(state, many_chunks, CHUNKS_SIZE);
    for (unsigned i = 0; i < 80; i++) {
        char key[32];
        const unsigned char value = (unsigned char)i;
        snprintf(key, sizeof key, "tree/c/%u/0", i);
        expect_inflated(s, key, &value, 1);
    }
    expect_inflated(s, "single/c/0", "\5\0\6\0\7\0\10", 8);
    expect_words(s, "single/zarr.json", "{\"name\":\"numcodecs.zlib\"");
    expect_object(s, "implicit/c/0", "\1\0\2", 4);
    expect_object(s, "implicit/c/1", "\3\0\4", 4);
    expect_failure(s, "implicit/c/3", CUBED_E_NOT_FOUND, "implicit/c/3");
    cb_store_close(s);
}

/* A chunk whose filter was skipped has a mask in front. The codec "cubed.filter_mask" interprets it. */
static void test_filters_that_chunks_were_spared(void **state)
{
    cubed_store *s = open_text(state, many_chunks, CHUNKS_SIZE);
    expect_words(s, "spared/zarr.json", "{\"name\":\"cubed.filter_mask\"}]");
    expect_object(s, "spared/c/1", "\1\0\0\0\3\0\4", 8);
    cb_store_close(s);
}

/* A two-dimensional variable may have the name of one of its dimensions, and a variable with fewer records than others is as
 * long as they are. */
static void test_dimensions(void **state)
{
    cubed_store *s = open_text(state, dimensions, DIMS_SIZE);
    expect_words(s, "t/zarr.json", "\"shape\":[3,2]");
    expect_words(s, "t/zarr.json", "\"dimension_names\":[\"t\", \"y\"]");
    expect_words(s, "y/zarr.json", "\"dimension_names\":[\"y\"]");
    expect_words(s, "short/zarr.json", "\"shape\":[3]");
    expect_words(s, "short/zarr.json", "\"dimension_names\":[\"t\"]");
    expect_words(s, "short/zarr.json", "\"fill_value\":-1");
    expect_object(s, "t/c/2/0", "\5\0\6", 4);
    expect_object(s, "short/c/0", "\11\0\xff\xff", 4);
    cb_store_close(s);
}

static void test_no_memory(void **state)
{
    unsigned char *bytes = inflated(many_chunks, CHUNKS_SIZE);
    expect_no_memory_is_said(*state, bytes, CHUNKS_SIZE, "spared/zarr.json");
    expect_no_memory_is_said(*state, bytes, CHUNKS_SIZE, "grows/c/70000");
    free(bytes);
    bytes = inflated(many_names, DENSE_SIZE);
    expect_no_memory_is_said(*state, bytes, DENSE_SIZE, "g/zarr.json");
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_damaged_names),
        cmocka_unit_test(test_large_attributes),
        cmocka_unit_test(test_pages_of_chunks),
        cmocka_unit_test(test_tables_of_other_kinds),
        cmocka_unit_test(test_filters_that_chunks_were_spared),
        cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, setup_stores, teardown_stores);
}
