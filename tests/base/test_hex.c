/* hex: lower case out, either case in, every byte. */
#include "base/hex.h"
#include "check.h"

int main(void)
{
    uint8_t bytes[256], again[256];
    char text[513];
    for (unsigned i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    hex_encode(text, bytes, sizeof bytes);
    CHECK(strlen(text) == 512 && memcmp(text, "000102", 6) == 0);
    CHECK(strcmp(text + 506, "fdfeff") == 0);
    CHECK(hex_decode(again, sizeof again, text, 512) && memcmp(again, bytes, 256) == 0);
    CHECK(hex_decode(again, 2, "aBcD", 4) && again[0] == 0xab && again[1] == 0xcd);
    CHECK(!hex_decode(again, 2, "abc", 3) && !hex_decode(again, 2, "abcde", 5));
    CHECK(hex_decode(again, 0, "", 0));
    for (unsigned c = 0; c < 256; c++) {
        bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        char high[2] = { (char)c, '0' };
        char low[2] = { '0', (char)c };
        CHECK(hex_decode(again, 1, high, 2) == digit && hex_decode(again, 1, low, 2) == digit);
    }
    return 0;
}
