// magic.c - formats are known by their first bytes, wherever the bytes end; floats are none of
// them.
#include "base/magic.h"

#include <criterion/criterion.h>
#include <string.h>

static unsigned char head[ZMPI_MAGIC_BYTES];

static const char *with(size_t at, const char *bytes, size_t n)
{
    memset(head, 0, sizeof head);
    memcpy(head + at, bytes, n);
    return zmpi_magic_find(head, sizeof head);
}

#define IS(at, bytes, name)                                                                        \
    do {                                                                                           \
        const char *is = with(at, bytes, sizeof(bytes) - 1);                                       \
        cr_assert(is != NULL && strcmp(is, name) == 0, "%s: %s", name, is ? is : "none");          \
        cr_assert_null(zmpi_magic_find(head, (at) + sizeof(bytes) - 2), "%s, cut", name);          \
    } while (0)

Test(magic, formats)
{
    IS(0, "\x89HDF\r\n\x1a\n", "HDF5");
    IS(0, "CDF\x05", "netCDF");
    IS(0, "SIMPLE  =", "FITS");
    IS(0, "\x93NUMPY", "NumPy");
    IS(344, "n+1\0", "NIfTI");
    IS(257, "ustar", "tar");
    IS(128, "DICM", "DICOM");
    IS(0, "# vtk DataFile", "VTK");
    IS(0, "\xc3\x40\xf1", "SEG-Y");
    IS(0, "\0\0\x07\xcb", "XTC");
    IS(0, "\x89ZMPI", "zmpi");
    IS(0, "\xcd\xf3\0\x01", "CDF");
    IS(0, "# AmiraMesh", "Amira");
    IS(0, "!INTERFILE", "Interfile");
}

Test(magic, others)
{
    cr_assert_null(with(0, "", 0));
    cr_assert_null(with(1, "CDF\x05", 4));
    cr_assert_null(zmpi_magic_find(NULL, 0));
    // Numbers of common sizes begin a file of data.
    for (int i = -100000; i < 100000; i++) {
        const float f = (float)i * 0.37f;
        const double d = (double)i * 1e-3;
        cr_assert_null(with(0, (const char *)&f, sizeof f), "%g", (double)f);
        cr_assert_null(with(0, (const char *)&d, sizeof d), "%g", d);
    }
}
