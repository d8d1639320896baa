/*
 * adios2_operator.cc - a program of ADIOS2 that writes by zmpi's operator and reads back: within
 * the bound, exact where it is to be, and damage is an exception. ADIOS2_PLUGIN_PATH names the
 * plug-in's folder. Its first argument is an engine: BP5 or BP4.
 */
#include <adios2.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

static std::string engine_name;

static void need(bool right, const std::string &what)
{
    if (right)
        return;
    std::fprintf(stderr, "%s: %s\n", engine_name.c_str(), what.c_str());
    std::exit(1);
}

static size_t count_of(const adios2::Dims &d)
{
    size_t n = 1;
    for (size_t e : d)
        n *= e;
    return n;
}

template <class T>
static void write(const std::string &file, const adios2::Dims &shape, const std::vector<T> &data,
                  adios2::Params parameters)
{
    adios2::ADIOS adios;
    adios2::IO io = adios.DeclareIO("write");
    io.SetEngine(engine_name);
    auto v = io.DefineVariable<T>("v", shape, adios2::Dims(shape.size(), 0), shape);
    parameters["PluginName"] = "zmpi";
    parameters["PluginLibrary"] = "zmpi_adios2";
    v.AddOperation("plugin", parameters);
    adios2::Engine e = io.Open(file, adios2::Mode::Write);
    e.BeginStep();
    e.Put(v, data.data());
    e.EndStep();
    e.Close();
}

template <class T> static std::vector<T> read(const std::string &file)
{
    adios2::ADIOS adios;
    adios2::IO io = adios.DeclareIO("read");
    io.SetEngine(engine_name);
    adios2::Engine e = io.Open(file, adios2::Mode::Read);
    e.BeginStep();
    auto v = io.InquireVariable<T>("v");
    std::vector<T> data(count_of(v.Shape()));
    e.Get(v, data.data(), adios2::Mode::Sync);
    e.EndStep();
    e.Close();
    return data;
}

/* The largest file of a BP folder is its data. */
static std::string data_file(const std::string &file)
{
    return file + "/data.0";
}

static std::string bytes_of(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

/* Where the operator's part of the data begins: behind ADIOS2's words about it. */
static size_t stream_of(const std::string &bytes)
{
    const std::string words = "PluginName\4zmpi";
    const size_t at = bytes.rfind(words);
    need(at != std::string::npos, "the file names no operator");
    return at + words.size();
}

static double magnitude(float x)
{
    return x;
}
template <class T> static double magnitude(T x)
{
    return static_cast<double>(x);
}
template <class T> static double magnitude(std::complex<T> x)
{
    return std::max(std::fabs(x.real()), std::fabs(x.imag()));
}

/* bound: 0: exact. ratio: at least as small as that. */
template <class T>
static void round_trip(const std::string &name, const adios2::Dims &shape,
                       const std::vector<T> &data, const adios2::Params &parameters, double bound,
                       double ratio)
{
    const std::string file = name + ".bp";
    write(file, shape, data, parameters);
    const std::vector<T> back = read<T>(file);
    need(back.size() == data.size(), name + ": another size");
    double worst = 0;
    for (size_t i = 0; i < data.size(); i++)
        worst = std::max(worst, std::fabs(magnitude(data[i] - back[i])));
    need(worst <= bound, name + ": largest error " + std::to_string(worst));
    need(bound == 0 || worst > 0, name + ": is exact: the operator did nothing");
    const size_t size = bytes_of(data_file(file)).size();
    need(static_cast<double>(size) * ratio <= static_cast<double>(data.size() * sizeof(T)) + 8192,
         name + ": " + std::to_string(size) + " bytes");
}

template <class T> static std::vector<T> waves(size_t n)
{
    std::vector<T> a(n);
    for (size_t i = 0; i < n; i++)
        a[i] = T(5 + std::sin(static_cast<double>(i) / 300));
    return a;
}

/* Writes with what is not allowed: ADIOS2 2.10 lets no exception through, and the program ends with
 * its words. */
static void write_with(int count, char **settings)
{
    adios2::Params parameters;
    for (int i = 0; i < count; i++) {
        const std::string s = settings[i];
        parameters[s.substr(0, s.find('='))] = s.substr(s.find('=') + 1);
    }
    write<float>("refused.bp", {4, 4}, waves<float>(16), parameters);
}

/* Bytes of the stream are changed one after the other: an exception, or the numbers as they were.
 */
static void damage()
{
    const std::vector<float> data = waves<float>(32 * 32 * 32);
    write<float>("damaged.bp", {32, 32, 32}, data, {{"error_bound", "abs=1e-3"}});
    const std::vector<float> right = read<float>("damaged.bp");
    const std::string path = data_file("damaged.bp"), whole = bytes_of(path);
    size_t thrown = 0, tried = 0;
    for (size_t at = stream_of(whole); at < whole.size();
         at += at < stream_of(whole) + 64 ? 1 : 397) {
        std::string bad = whole;
        bad[at] = static_cast<char>(bad[at] ^ 0x55);
        std::ofstream(path, std::ios::binary) << bad;
        tried++;
        try {
            need(read<float>("damaged.bp") == right,
                 "damage at " + std::to_string(at) + ": other numbers");
        } catch (const std::exception &e) {
            thrown++;
            if (at == stream_of(whole) + 64)
                std::printf("%s: %s\n", engine_name.c_str(), e.what());
        }
    }
    need(thrown * 2 > tried,
         "damage was not seen: " + std::to_string(thrown) + " of " + std::to_string(tried));
}

int main(int argc, char **argv)
{
    need(argc > 1, "an engine");
    engine_name = argv[1];
    if (argc > 2) {
        write_with(argc - 2, argv + 2);
        return 0;
    }
    using complex = std::complex<double>;
    round_trip<float>("f32", {30, 40, 50}, waves<float>(60000), {{"error_bound", "abs=1e-3"}}, 1e-3,
                      3);
    round_trip<float>("interp", {2, 15, 40, 50}, waves<float>(60000),
                      {{"error_bound", "rel=1e-3"}, {"encoder", "interp"}, {"threads", "2"}}, 2e-3,
                      5);
    round_trip<double>("f64", {60000}, waves<double>(60000),
                       {{"error_bound", "abs=1e-3"}, {"encoder", "huffman"}}, 1e-3, 6);
    std::vector<complex> z(30000);
    for (size_t i = 0; i < z.size(); i++)
        z[i] = complex(std::sin(static_cast<double>(i) / 300), 1);
    round_trip<complex>("complex", {150, 200}, z, {{"error_bound", "abs=1e-3"}}, 1e-3, 3);
    round_trip<float>("fortran", {50, 40, 30}, waves<float>(60000),
                      {{"error_bound", "abs=1e-3"}, {"order", "column_major"}}, 1e-3, 3);
    const std::string c = bytes_of(data_file("f32.bp")),
                      fortran = bytes_of(data_file("fortran.bp"));
    need(fortran.substr(stream_of(fortran)) == c.substr(stream_of(c)), "order: other bytes");
    std::vector<float> filled = waves<float>(60000);
    for (size_t i = 0; i < filled.size(); i += 7)
        filled[i] = -777;
    write<float>("fill.bp", {200, 300}, filled, {{"error_bound", "rel=1e-3"}, {"fill", "-777"}});
    const std::vector<float> back = read<float>("fill.bp");
    for (size_t i = 0; i < filled.size(); i++)
        need(std::fabs(back[i] - filled[i]) <= (i % 7 ? 2.001e-3 : 0),
             "fill: value " + std::to_string(i));

    std::vector<int> whole(10000);
    std::vector<short> small(10000);
    std::vector<double> noise(50000);
    srand48(1);
    for (size_t i = 0; i < noise.size(); i++)
        noise[i] = std::ldexp(drand48(), static_cast<int>(lrand48() % 600));
    for (size_t i = 0; i < whole.size(); i++)
        small[i] = static_cast<short>(whole[i] = static_cast<int>(i * i));
    round_trip<int>("i32", {100, 100}, whole, {{"error_bound", "abs=1e3"}}, 0, 1);
    round_trip<short>("i16", {10000}, small, {{"error_bound", "abs=1e3"}}, 0, 1);
    round_trip<float>("default", {60000}, waves<float>(60000), {}, 0, 1);
    round_trip<double>("noise", {50, 1000}, noise, {{"error_bound", "lossless"}}, 0, 0.9);
    damage();
    return 0;
}
