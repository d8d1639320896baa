/*
 * zmpi_adios2.cpp - ADIOS2's operator: blocks of floats are zmpi's streams, which any program that
 * has ADIOS2 reads where it finds this plug-in (ADIOS2_PLUGIN_PATH). A stream tells by itself what
 * is in it.
 *
 * ADIOS2 is C++, so this file is, too. It takes ADIOS2's symbols from the program that loads it:
 * one plug-in for ADIOS2 with and without MPI.
 */
#if __has_include("adios2/plugin/PluginOperatorInterface.h") // ADIOS2 2.11
#include "adios2/plugin/PluginOperatorInterface.h"
#else
#include "adios2/operator/plugin/PluginOperatorInterface.h"
#endif

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>

#include "zmpi_codec.h"

namespace
{

using adios2::DataType;
using adios2::Dims;

[[noreturn]] void fail(const std::string &what)
{
    throw std::runtime_error("zmpi: " + what);
}

void check(enum zmpi_status status, const char *where)
{
    if (status != ZMPI_OK)
        fail(std::string(where) + ": " + zmpi_strerror(status));
}

/* An element as so many of the codec's; none of those that have no size of their own. */
struct element {
    enum zmpi_type type;
    size_t count;
};

element element_of(DataType type)
{
    static const struct {
        DataType type;
        element is;
    } known[] = {{DataType::Float, {ZMPI_F32, 1}},
                 {DataType::FloatComplex, {ZMPI_F32, 2}},
                 {DataType::Double, {ZMPI_F64, 1}},
                 {DataType::DoubleComplex, {ZMPI_F64, 2}},
                 {DataType::Int32, {ZMPI_I32, 1}},
                 {DataType::UInt32, {ZMPI_I32, 1}},
                 {DataType::Int64, {ZMPI_I64, 1}},
                 {DataType::UInt64, {ZMPI_I64, 1}},
                 {DataType::Int16, {ZMPI_BYTES, 2}},
                 {DataType::UInt16, {ZMPI_BYTES, 2}},
                 {DataType::Int8, {ZMPI_BYTES, 1}},
                 {DataType::UInt8, {ZMPI_BYTES, 1}},
                 {DataType::Char, {ZMPI_BYTES, 1}},
                 {DataType::LongDouble, {ZMPI_BYTES, sizeof(long double)}}};
    for (const auto &k : known)
        if (k.type == type)
            return k.is;
    return {ZMPI_BYTES, 0};
}

/* Extents, the slowest first, as the codec's three: those of 1 tell nothing, and all but the last
 * two are one. */
struct zmpi_array array_of(element e, const Dims &extents)
{
    struct zmpi_array a = {e.type, {1, 1, 1}};
    bool fits = true;
    int at = 2;
    for (auto i = extents.rbegin(); i != extents.rend(); ++i) {
        if (*i == 1)
            continue;
        fits = !__builtin_mul_overflow(a.extent[at], *i, &a.extent[at]) && fits;
        at -= at > 0;
    }
    fits = !__builtin_mul_overflow(a.extent[2], e.count, &a.extent[2]) && fits;
    if (!fits || e.count == 0)
        fail("a block is too large, or not of numbers");
    return a;
}

double number(const std::string &name, const char *from, const char *to)
{
    double value = 0;
    const auto end = std::from_chars(from, to, value);
    if (end.ec != std::errc() || end.ptr != to || !std::isfinite(value))
        fail(name + " is \"" + std::string(from, to) + "\": allowed are numbers");
    return value;
}

class zmpi_operator : public adios2::plugin::PluginOperatorInterface
{
  public:
    explicit zmpi_operator(const adios2::Params &parameters) : PluginOperatorInterface(parameters)
    {
        options.size = sizeof options;
        options.threads = 1;
        for (const auto &p : m_Parameters)
            take(p.first, p.second);
        if (options.threads < 0 || options.threshold < 0)
            fail("threads and threshold may not be negative");
    }

    bool IsDataTypeValid(const DataType type) const override
    {
        return element_of(type).count > 0;
    }

    /* ADIOS2 does not say of which type. HEADER: what it puts in front, which it leaves to us up
     * to 2.10. */
    size_t GetEstimatedSize(const size_t, const size_t size, const size_t count,
                            const size_t *dims) const override
    {
        constexpr size_t HEADER = 1024;
        size_t most = 0;
        for (const element e : {element{ZMPI_F32, size / 4}, element{ZMPI_F64, size / 8},
                                element{ZMPI_I32, size / 4}, element{ZMPI_BYTES, size}})
            if (e.count > 0)
                most = std::max(most, capacity_of(e, Dims(dims, dims + count)));
        return most + HEADER;
    }

    size_t Operate(const char *data, const Dims &, const Dims &extents, const DataType type,
                   char *to) override
    {
        const struct zmpi_array array = array_of(element_of(type), slowest_first(extents));
        const size_t capacity = zmpi_compress_capacity(&array);
        size_t size = 0;
        check(zmpi_compress_with(&options, &array, &bound, nullptr, to, capacity, data, &size),
              "a block cannot be compressed");
        return size;
    }

    /* How much room is at `to` is not said: it is what the block's metadata tell of its type and
     * extents. */
    size_t InverseOperate(const char *from, const size_t size, char *to) override
    {
        struct zmpi_stream_info info;
        check(zmpi_stream_info(from, size, &info), "a block cannot be read");
        check(zmpi_decompress_with(&options, to, info.decoded_bytes, from, size),
              "a block cannot be read");
        return info.decoded_bytes;
    }

  private:
    size_t capacity_of(element e, const Dims &extents) const
    {
        const struct zmpi_array array = array_of(e, slowest_first(extents));
        return zmpi_compress_capacity(&array);
    }

    /* ADIOS2 has the extents of a Fortran program as that has them, and does not tell. */
    Dims slowest_first(Dims extents) const
    {
        if (column_major)
            std::reverse(extents.begin(), extents.end());
        return extents;
    }

    void take(const std::string &name, const std::string &value)
    {
        const char *const from = value.data(), *const to = from + value.size();
        if (name == "error_bound") {
            if (zmpi_bound_parse(value.c_str(), &bound) != ZMPI_OK)
                fail("error_bound is \"" + value + "\": allowed are " ZMPI_BOUNDS);
        } else if (name == "encoder") {
            static const char *const names[] = {"fle", "huffman", "interp"};
            const auto *const found = std::find(std::begin(names), std::end(names), value);
            if (found == std::end(names))
                fail("encoder is \"" + value + "\": allowed are fle, huffman and interp");
            options.encoder = static_cast<int>(found - names) + ZMPI_FLE;
        } else if (name == "threads") {
            options.threads = static_cast<int>(std::clamp(number(name, from, to), -1.0, 4096.0));
        } else if (name == "threshold") {
            options.threshold = number(name, from, to);
        } else if (name == "fill") {
            const char *const comma = std::find(from, to, ',');
            options.fill[options.fills++] = number(name, from, comma);
            if (comma != to)
                options.fill[options.fills++] = number(name, comma + 1, to);
        } else if (name == "order") {
            column_major = value == "column_major";
            if (!column_major && value != "row_major")
                fail("order is \"" + value + "\": allowed are row_major and column_major");
        } else if (name != "pluginname" && name != "pluginlibrary" && name != "verbose") {
            fail("no parameter \"" + name +
                 "\": allowed are error_bound, encoder, threads, threshold, fill and order");
        }
    }

    struct zmpi_codec_options options = {};
    struct zmpi_bound bound = {ZMPI_LOSSLESS, 0};
    bool column_major = false;
};

} // namespace

extern "C" {
zmpi_operator *OperatorCreate(const adios2::Params &parameters)
{
    return new zmpi_operator(parameters);
}

void OperatorDestroy(zmpi_operator *one)
{
    delete one;
}
}
