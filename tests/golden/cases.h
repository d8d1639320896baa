/*
 * cases.h - the table of golden files. make.c writes them; tests/unit/stream/golden.c makes them
 * again and compares. How each is made is in cases_*.h.
 *
 * All data come from integers, scaled by powers of two, so that every machine makes the same. Cases
 * are only added: a file here is a promise to everybody who has one like it.
 */
#ifndef GOLDEN_CASES_H
#define GOLDEN_CASES_H

#include "cases_container.h"
#include "cases_fle.h"
#include "cases_huffman.h"
#include "cases_interp.h"

struct golden_case {
    const char *name;
    void (*make)(struct golden *g); /* NULL: as an encoder made it once */
    uint64_t size, hash;            /* of the logical bytes; XXH3 */
};

static const struct golden_case golden_cases[] = {
    {"f32_1d_abs", golden_f32_1d_abs, 33200, UINT64_C(0x28683C0E35C91674)},
    {"f32_2d_rel", NULL, 33228, UINT64_C(0xF4D72EDA1FFACAD9)},
    {"f32_3d_abs", golden_f32_3d_abs, 33300, UINT64_C(0x854FD72C009B4309)},
    {"f64_3d_rel", NULL, 48024, UINT64_C(0x079F4DEED04654AB)},
    {"f32_exceptions", golden_f32_exceptions, 6004, UINT64_C(0x9DC980AE6A5198DE)},
    {"f32_fill", NULL, 8400, UINT64_C(0x7619B33D2CF503B7)},
    {"f64_exceptions", golden_f64_exceptions, 8008, UINT64_C(0xD90F2E92003E6380)},
    {"f32_lossless", golden_f32_lossless, 2480, UINT64_C(0x7E49FF9C7581E8F6)},
    {"f64_lossless", golden_f64_lossless, 3360, UINT64_C(0x5F4D962D6CF1EE1F)},
    {"stored", golden_stored, 804, UINT64_C(0x48B2BA45B1A5B6D1)},
    {"constant", NULL, 320000, UINT64_C(0xEAF53BC4FC8F330C)},
    {"i32", golden_i32, 4000, UINT64_C(0xD712F01675B74D20)},
    {"i64", golden_i64, 7560, UINT64_C(0xA142FA8C13728638)},
    {"bytes", golden_bytes, 2003, UINT64_C(0xF9278F6AA25BB1D0)},
    {"indexed", golden_indexed, 14752, UINT64_C(0xBA5664545E94F8C1)},
    {"unclosed", golden_unclosed, 13100, UINT64_C(0xE3EF7D860720AB10)},
    {"appended", golden_appended, 900, UINT64_C(0xC76392E783158440)},
    {"f32_pw_rel", NULL, 8000, UINT64_C(0xDAA6F1C5FE0C423C)},
    {"f64_pw_rel", NULL, 12920, UINT64_C(0xB6CEDE6D43D7B24D)},
    {"f32_psnr", NULL, 21600, UINT64_C(0xD685A44352EC83A5)},
    {"f32_psnr_worst", NULL, 21600, UINT64_C(0x6464CB0FC86FF894)},
    {"huffman_f32", NULL, 108540, UINT64_C(0xC79057829E9B1AAB)},
    {"huffman_f64", NULL, 2880, UINT64_C(0x8C3AD3CC09EA226D)},
    {"huffman_i64", golden_huffman_i64, 48000, UINT64_C(0xD6F3F5A09D652935)},
    {"huffman_f32_short", golden_huffman_f32_short, 108540, UINT64_C(0xC79057829E9B1AAB)},
    {"huffman_f64_short", golden_huffman_f64_short, 2880, UINT64_C(0x8C3AD3CC09EA226D)},
    {"huffman_once", NULL, 44556, UINT64_C(0xC289804113B4A1CB)},
    {"huffman_rest", golden_huffman_rest, 131072, UINT64_C(0x01C43043D0AAF2C5)},
    {"f32_pw_rel_16", golden_f32_pw_rel_16, 8000, UINT64_C(0xDAA6F1C5FE0C423C)},
    {"f64_pw_rel_16", golden_f64_pw_rel_16, 12920, UINT64_C(0xB6CEDE6D43D7B24D)},
    {"f32_2d_rel_grid", golden_f32_2d_rel_grid, 33228, UINT64_C(0xBF1D8E84914F7237)},
    {"f32_fill_grid", golden_f32_fill_grid, 8400, UINT64_C(0xD47C5271464BB30A)},
    {"f32_psnr_grid", golden_f32_psnr_grid, 21600, UINT64_C(0x3AAB3A626233E15F)},
    {"f32_psnr_worst_grid", golden_f32_psnr_worst_grid, 21600, UINT64_C(0x2C0B7DBD770493F9)},
    {"f64_3d_rel_grid", golden_f64_3d_rel_grid, 48024, UINT64_C(0x9C3832620E51BA54)},
    {"constant_whole", golden_constant_whole, 320000, UINT64_C(0xEAF53BC4FC8F330C)},
    {"f32_whole", golden_f32_whole, 80000, UINT64_C(0x34A853CA257C1744)},
    {"interp_f32", NULL, 40172, UINT64_C(0x29E2D9648AF6A255)},
    {"interp_f64", NULL, 92352, UINT64_C(0xA4D4F00DB20CEE7F)},
    {"interp_lorenzo", NULL, 88000, UINT64_C(0x5B5C7376B82C07F5)},
    {"interp_rest", NULL, 1200000, UINT64_C(0x5F6BD6CDC5893BEB)},
    {"interp_flare", NULL, 117600, UINT64_C(0x4BB0BD6132223F0A)},
    {"big_endian", golden_big_endian, 47560, UINT64_C(0x4FF3B1FF0271F2CA)},
    {"components", golden_components, 16672, UINT64_C(0x3C79926200B03E5C)},
    {"interp_f32_fine", NULL, 40172, UINT64_C(0x093410FED6432758)},
    {"interp_f64_fine", NULL, 92352, UINT64_C(0xB90FD44A5194710A)},
    {"interp_lorenzo_yx", NULL, 88000, UINT64_C(0x5B5C7376B82C07F5)},
    {"interp_rest_lorenzo", NULL, 1200000, UINT64_C(0x5F6BD6CDC5893BEB)},
    {"interp_planes", NULL, 60480, UINT64_C(0xF1D998F63C2239FE)},
    {"huffman_once_grid", golden_huffman_once_grid, 44556, UINT64_C(0xA4FCB82F6FB258B4)},
    {"interp_books", NULL, 208000, UINT64_C(0x1A2B57F2F08BC168)},
    {"interp_f64_runs", NULL, 92352, UINT64_C(0xB90FD44A5194710A)},
    {"interp_planes_runs", NULL, 60480, UINT64_C(0xF1D998F63C2239FE)},
    {"interp_rest_runs", golden_interp_rest_runs, 1200000, UINT64_C(0x5F6BD6CDC5893BEB)},
    {"interp_books_runs", NULL, 208000, UINT64_C(0x1A2B57F2F08BC168)},
    {"interp_flare_runs", golden_interp_flare_runs, 117600, UINT64_C(0x4BB0BD6132223F0A)},
    {"interp_f32_tables", golden_interp_f32_tables, 40172, UINT64_C(0x093410FED6432758)},
    {"interp_f64_tables", golden_interp_f64_tables, 92352, UINT64_C(0xB90FD44A5194710A)},
    {"interp_lorenzo_tables", golden_interp_lorenzo_tables, 88000, UINT64_C(0x5B5C7376B82C07F5)},
    {"interp_planes_tables", golden_interp_planes_tables, 60480, UINT64_C(0xF1D998F63C2239FE)},
    {"interp_books_groups", golden_interp_books_groups, 208000, UINT64_C(0x1A2B57F2F08BC168)},
};

#define GOLDEN_COUNT (sizeof golden_cases / sizeof golden_cases[0])

static inline void golden_free(struct golden *g)
{
    for (size_t i = 0; i < g->records; i++)
        zmpi_extent_free(&g->record[i].extent);
}

#endif
