/*
 * vector_room_t.h - template: memory that planes are about to be written to. After
 * v_prefetch_write.
 */

/* From planes that were written to the lines that will be, which as many bytes are asked for:
 * a store to a line that must come from memory keeps those behind it waiting, and soon all else. */
enum { ROOM_AHEAD = 4096 };

VECTOR void room_ahead(const unsigned char *from, const unsigned char *to)
{
    for (; from < to; from += 64)
        v_prefetch_write(from, ROOM_AHEAD);
}
