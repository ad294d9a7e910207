#include "utf8.h"

size_t bpe_utf8_open_tail(const uint8_t *p, size_t n) {
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        uint8_t b = p[n - back];
        if (b < 0x80)
            return 0;
        if (b < 0xC0)
            continue;
        size_t length = b >= 0xF0 ? 4 : b >= 0xE0 ? 3 : 2;
        return length > back ? back : 0;
    }
    return 0;
}
