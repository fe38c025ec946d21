/* Tests of support/buffer.h: what goes in comes out in its order, however it is taken, and takes no more room. */

#include "support/buffer.h"
#include "support/random.h"
#include "support/suite.h"

static void bytes_are_taken_off_the_front(void** state)
{
    (void)state;
    random_stream stream = random_for_test("buffer");
    byte_buffer buffer = {0};
    unsigned char in = 0, out = 0;
    for (int round = 0; round < 20000; round++)
    {
        for (uint64_t count = random_below(&stream, 40); count > 0; count--, in++) buffer_add(&buffer, &in, 1);
        const size_t taken = (size_t)random_below(&stream, buffer.size + 1);
        for (size_t i = 0; i < taken; i++) assert_int_equal((unsigned char)buffer.bytes[i], out++);
        buffer_consume(&buffer, taken);
        assert_in_range(buffer.capacity + buffer.taken, buffer.size, 4096);
    }
    buffer_free(&buffer);
}

TEST_FILE(buffer, cmocka_unit_test(bytes_are_taken_off_the_front));
