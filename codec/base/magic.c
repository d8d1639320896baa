/* magic.c - what files begin with whose own libraries must be able to open them. */
#include "base/magic.h"

#include <string.h>

struct magic {
    unsigned short at, length;
    const char *bytes, *name;
};

/* At least three bytes each, most four and more: floats hardly ever begin so. */
#define AT(at, bytes, name)                                                                        \
    {                                                                                              \
        at, sizeof(bytes) - 1, bytes, name                                                         \
    }

static const struct magic table[] = {
    AT(0, "\x89HDF\r\n\x1a\n", "HDF5"),
    AT(0, "\x0e\x03\x13\x01", "HDF4"),
    AT(0, "CDF\x01", "netCDF"),
    AT(0, "CDF\x02", "netCDF"),
    AT(0, "CDF\x05", "netCDF"),
    AT(0, "\x89ZMPI", "zmpi"),
    AT(0, "ADIOS-BP", "ADIOS"),
    AT(0, "@(#)ADF Database", "CGNS (ADF)"),
    AT(0, "<<PDB:", "Silo (PDB)"),
    AT(0, "!<<PDB:", "Silo (PDB)"),
    AT(0, "root\0\0", "ROOT"),
    AT(0, "GRIB", "GRIB"),
    AT(0, "BUFR", "BUFR"),
    AT(0, "# vtk DataFile", "VTK"),
    AT(0, "<VTKFile", "VTK"),
    AT(0, "<?xml", "XML"),
    AT(0, "#!TDV", "Tecplot"),
    AT(0, "C Binary", "EnSight"),
    AT(0, "ply\n", "PLY"),
    AT(0, " BDV", "OpenVDB"),
    AT(0, "# AVS", "AVS"),
    AT(0, "# AmiraMesh", "Amira"),
    AT(0, "# Avizo", "Amira"),
    AT(0, "SIMPLE  =", "FITS"),
    AT(0, "#ASDF", "ASDF"),
    AT(128, "DICM", "DICOM"),
    AT(344, "n+1\0", "NIfTI"),
    AT(344, "ni1\0", "NIfTI"),
    AT(4, "n+2\0\r\n\x1a\n", "NIfTI"),
    AT(208, "MAP ", "MRC"),
    AT(0, "\xcd\xf3\0\x01", "CDF"),
    AT(0, "\xcd\xf2\x60\x02", "CDF"),
    AT(0, "SR\0\x04", "IDL"),
    AT(0, "LBLSIZE=", "VICAR"),
    AT(0, "PDS_VERSION_ID", "PDS"),
    AT(0, "EHFA_HEADER_TAG", "ERDAS"),
    AT(0, "NITF0", "NITF"),
    AT(0, "UHL1", "DTED"),
    AT(0, "MATRIX7", "ECAT"),
    AT(0, "!INTERFILE", "Interfile"),
    AT(0, "IMGF", "GE Signa"),
    AT(0, "NRRD000", "NRRD"),
    AT(0, "ObjectType =", "MetaImage"),
    AT(0, "NDims =", "MetaImage"),
    AT(0, "II*\0", "TIFF"),
    AT(0, "MM\0*", "TIFF"),
    AT(0, "II+\0", "TIFF"),
    AT(0, "MM\0+", "TIFF"),
    AT(0, "\x89PNG\r\n\x1a\n", "PNG"),
    AT(0, "\xff\xd8\xff", "JPEG"),
    AT(0, "GIF8", "GIF"),
    AT(0, "v/1\x01", "OpenEXR"),
    AT(0, "\0\0\0\x0cjP  ", "JPEG 2000"),
    AT(0, "P5\n", "PGM"),
    AT(0, "P6\n", "PPM"),
    AT(0, "\xc3\x40\xf1", "SEG-Y"), /* "C 1" in EBCDIC */
    AT(0, "C 1 ", "SEG-Y"),
    AT(0, "C01 ", "SEG-Y"),
    AT(0, "LASF", "LAS"),
    AT(0, "\0\0\x07\xcb", "XTC"),
    AT(0, "\0\0\x07\xc9", "TRR"),
    AT(4, "CORD", "DCD"),
    AT(0, "CRAM", "CRAM"),
    AT(0, "BAM\x01", "BAM"),
    AT(0, "BCF\x02", "BCF"),
    AT(0, "\x93NUMPY", "NumPy"),
    AT(0, "MATLAB 5.0 MAT-file", "MATLAB"),
    AT(0, "PAR1", "Parquet"),
    AT(0, "ARROW1", "Arrow"),
    AT(0, "FEA1", "Feather"),
    AT(0, "Obj\x01", "Avro"),
    AT(0, "SQLite format 3", "SQLite"),
    AT(0, "GGUF", "GGUF"),
    AT(0, "\x80\x04\x95", "pickle"),
    AT(0, "\x80\x05\x95", "pickle"),
    AT(0, "PK\x03\x04", "ZIP"),
    AT(0, "\x1f\x8b\x08", "gzip"),
    AT(0, "BZh", "bzip2"),
    AT(0,
       "\xfd"
       "7zXZ",
       "xz"),
    AT(0, "\x28\xb5\x2f\xfd", "Zstandard"),
    AT(0, "\x04\x22\x4d\x18", "LZ4"),
    AT(257, "ustar", "tar"),
    AT(0, "%PDF-", "PDF"),
    AT(0,
       "\x7f"
       "ELF",
       "ELF"),
};

const char *zmpi_magic_find(const void *head, size_t size)
{
    const char *p = head;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct magic *m = &table[i];
        if (size >= (size_t)m->at + m->length && memcmp(p + m->at, m->bytes, m->length) == 0)
            return m->name;
    }
    return NULL;
}
