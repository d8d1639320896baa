/* flare_coder.cpp - the Verilated flare_coder.sv and flare_decoder.sv behind flare_sim.h. */
#include "flare_sim.h"

#include <algorithm>
#include <memory>
#include <string.h>

#include "Vflare_coder.h"
#include "Vflare_decoder.h"
#include "verilated.h"

namespace
{

template <class T> struct simulated {
    VerilatedContext context;
    T top{&context};
    uint64_t random = 1;

    void edge()
    {
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
    }

    bool chance(unsigned stall)
    {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return (random >> 56) < stall;
    }
};

/* Words of a section, of which each stream begins a new one, without gaps. */
unsigned char *pack(uint64_t bytes, const uint64_t *word, unsigned char *dst)
{
    for (unsigned k = 0; k < 4; k++) {
        const size_t size = bytes >> (14 * k) & 0x3FFF;
        dst[2 * k] = (unsigned char)size;
        dst[2 * k + 1] = (unsigned char)(size >> 8);
    }
    dst += 8;
    for (unsigned k = 0; k < 4; k++) {
        const size_t size = bytes >> (14 * k) & 0x3FFF;
        for (size_t i = 0; i < size; i++)
            *dst++ = (unsigned char)(word[i / 8] >> (8 * (i % 8)));
        word += (size + 7) / 8;
    }
    return dst;
}

} // namespace

extern "C" size_t flare_sim_code(const signed char *code, size_t n, const uint16_t book[998],
                                 unsigned stall, unsigned char *dst)
{
    auto c = std::make_unique<simulated<Vflare_coder>>();
    auto &top = c->top;
    auto word = std::make_unique<uint64_t[]>(8192);
    size_t sent = 0, words = 0;
    unsigned char *at = dst;
    top.rst = 1;
    c->edge();
    c->edge();
    top.rst = 0;
    for (unsigned s = 0; s < 998; s++) {
        top.book_write = 1;
        top.book_symbol = (uint16_t)s;
        top.book_code = book[s];
        c->edge();
    }
    top.book_write = 0;
    top.total = (uint32_t)n;
    top.start = 1;
    c->edge();
    top.start = 0;
    for (unsigned idle = 0; idle < 100000; idle++) {
        if (!top.s_valid && sent < n && !c->chance(stall)) {
            const size_t most = std::min<size_t>(n - sent, 4);
            top.s_count = (uint8_t)(stall ? 1 + sent % most : most); /* rows may be short */
            top.s_code = 0x5A5A5A5A;
            memcpy(&top.s_code, code + sent, top.s_count);
            top.s_valid = 1;
        }
        top.m_ready = !c->chance(stall);
        top.eval();
        const bool goes = top.s_valid && top.s_ready;
        if (top.m_valid && top.m_ready) {
            word[words++] = top.m_word;
            idle = 0;
            if (top.m_last) {
                at = pack(top.m_bytes, word.get(), at);
                words = 0;
            }
        }
        if (!top.busy)
            break;
        c->edge();
        if (goes) {
            sent += top.s_count;
            top.s_valid = 0;
            idle = 0;
        }
    }
    top.final();
    return sent == n && !top.busy && words == 0 ? (size_t)(at - dst) : 0;
}

extern "C" bool flare_sim_decode(const unsigned char *src, size_t size, size_t n,
                                 const uint16_t table[4096], unsigned stall, signed char *code)
{
    auto c = std::make_unique<simulated<Vflare_decoder>>();
    auto &top = c->top;
    size_t word = 0, words = 0, got = 0;
    uint64_t bytes = 0;
    auto stored = std::make_unique<uint64_t[]>(size + 8);
    const unsigned char *at = src + 8;
    if (size < 8)
        return false;
    for (unsigned k = 0; k < 4; k++) {
        const size_t own = src[2 * k] | (size_t)src[2 * k + 1] << 8;
        if (own > (size_t)(src + size - at))
            return false;
        for (size_t i = 0; i < own; i++)
            stored[words + i / 8] |= (uint64_t)at[i] << (8 * (i % 8));
        bytes |= (uint64_t)own << (14 * k);
        words += (own + 7) / 8;
        at += own;
    }
    top.rst = 1;
    c->edge();
    c->edge();
    top.rst = 0;
    for (unsigned i = 0; i < 4096; i++) {
        top.table_write = 1;
        top.table_at = (uint16_t)i;
        top.table_entry = table[i];
        c->edge();
    }
    top.table_write = 0;
    top.total = (uint16_t)n;
    top.bytes = bytes;
    top.start = 1;
    c->edge();
    top.start = 0;
    for (unsigned idle = 0; idle < 10000 && top.busy; idle++) {
        top.s_valid = top.s_valid || (word < words && !c->chance(stall));
        top.s_word = stored[word < words ? word : 0];
        top.m_ready = !c->chance(stall);
        top.eval();
        const bool goes = top.s_valid && top.s_ready;
        if (top.m_valid && top.m_ready) {
            if (got == n)
                return false;
            code[got++] = (signed char)top.m_code;
            idle = 0;
        }
        c->edge();
        if (goes) {
            word++;
            top.s_valid = 0;
            idle = 0;
        }
    }
    top.final();
    return !top.busy && !top.wrong && got == n && word == words;
}
