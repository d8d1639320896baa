/*
 * vector_none_t.h - template: what instruction sets that have enough registers do not do
 * (avx2_words64.h does).
 */

/* Are the words of a block to be stored one vector after another, as they are made? */
enum { VECTOR_BY_VECTOR = 0 };
