#include "crypto/ed25519_selftest.h"

#include "base/hex.h"
#include "crypto/ed25519_lanes.h"

/* clang-format off */
static const struct row {
    const char *message;
    bool good;
    const char *key;
    const char *signature;
} rows[] = {
    { "", true, /* RFC 8032, test 1 */
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
      "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b" },
    { "r", true, /* RFC 8032, test 2 */
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
      "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00" },
    { "ed25519vectors", true, /* R and A of mixed order, CCTV 7 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "bbfd00bd9c259d8d222d15e67a3d8228585050dbb9b9585be20d8fadc721da03" },
    { "ed25519vectors 7", true, /* the same, another key, CCTV 411 */
      "6718d0a3d58deaeaefa655eae3f119071deaa2cfebfd0ca28b670f879d657086",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "d79e8fd671739b78d219e13e1b578516549b9c90c988249f62d1d6a2b40ea606" },
    { "ed25519vectors 5", true, /* A of mixed order, CCTV 50 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "b62cf890de42c413b11b1411c9f01f1c4d77aa87ef182258d1251f69af2a3506"
      "08f32d206a7c0b7efa9a59e66546e8f1f599ef843fb502c9cc3c4ae8b7c11e05" },
    { "ed25519vectors 10", false, /* good up to small order, CCTV 6 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "c02e2b9e63e385c058bf62b14b3a2b29ccefe8e38ddb536bc3f9865320a3d801" },
    { "ed25519vectors 9", false, /* good up to small order, CCTV 28 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "b797b156efcd45a4e2454d2fd0b21438b3ccd80d4c7fd1d1b2c8e55bd4ed4a94"
      "639734cf989e314e9e049fc01a3864d191fed8f231b12fee6fa50aaadba44b0e" },
    { "ed25519vectors 1", false, /* the same, CCTV 464 */
      "6718d0a3d58deaeaefa655eae3f119071deaa2cfebfd0ca28b670f879d657086",
      "5ae36d433a7bd0efb150b6b04610d1986e3044c46b6ad69bae17aaf76b608d21"
      "f7d88566da564c6fa777235d8864b9df8d63ee4369bcc3dbf0f421fdfe9d7309" },
    { "ed25519vectors 9", false, /* the same, CCTV 410 */
      "6718d0a3d58deaeaefa655eae3f119071deaa2cfebfd0ca28b670f879d657086",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "8043872d01ef87b42d987e20d1f5604f591441bec276cb285e00c60c3854a307" },
    { "ed25519vectors 3", false, /* A of order L, good up to small order, CCTV 267 */
      "ef75b20e7540e3dff77404193652ba2bd13df99c1508eee1515e27ae25f28076",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "2d471882773a677af1e3824e757a33f8ddf7bbeaf3d28a09595eb8daa0d74a03" },
    { "ed25519vectors 3", false, /* R of small order, CCTV 5 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "0000000000000000000000000000000000000000000000000000000000000000"
      "9472a69cd9a701a50d130ed52189e2455b23767db52cacb8716fb896ffeeac09" },
    { "ed25519vectors 2", false, /* R of order 1, sign bit set, CCTV 60 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "0100000000000000000000000000000000000000000000000000000000000080"
      "c85efbb96e35e1b671722d5d8de687d4e148ea15ec566be6a1f3cfb8a10a9d06" },
    { "ed25519vectors 1", false, /* R = p + 1, CCTV 66 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
      "97f5fc03f658b5b733cf20c4ea5577e8e5988ee90cb2a3c919c2a05dd2fcde04" },
    { "ed25519vectors 3", false, /* A of small order, CCTV 3 */
      "0000000000000000000000000000000000000000000000000000000000000000",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "05ba9a796274d80437afa36f1236563f2f3b0aa84cecddc3d20914615ba4fe02" },
    { "ed25519vectors", false, /* A = p, CCTV 11 */
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "05ba9a796274d80437afa36f1236563f2f3b0aa84cecddc3d20914615ba4fe02" },
};

/* Made for this test (tests/crypto/test_selftest_rows.py), over the first bytes of the pattern. The
 * good ones have lengths on both sides of each end of a block of SHA-512, the longest of a request
 * and of an operator's. Then such as would be good but for one check: R of small order in each of
 * its 14 encodings, a key of small order in each of them. Last S at L - 1, L and 2^252. */
static const struct made {
    uint16_t message_bytes;
    bool good;
    const char *key;
    const char *signature;
} made[] = {
    { 0, true,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "1ba40e6209198bfbcdff232653f59bfa538182ed3e682d03e6ccf1a40396a1a8"
      "794490d0962aab6a71d113b94e1ee321b6c13289e597861c6bf99d8a714ab802" },
    { 72, true,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "edf3753794de9e9cb4bc64d32846ac7152c9ee70b536509073bbc6c22a12f8e6"
      "5bdd92db189c61ad991c7a7a64895d8b7c29699f9cc188be59af12d4d7c93301" },
    { 111, true,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "a2274b933f0168f09325e2d5da693bd71de2b26c4a408100086e7bac98bd27a6"
      "5a39bcb9c52873d06301c2f51fca0d9c06b40f66e61b14d9caef4d6da07dda02" },
    { 112, true,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "6f1ee52aacdeaa07e461de99304d9dbad79a49f6a3d69865132186bbf0f0d977"
      "c138dae0a6913aa9c93e6706aee997ac7823218084ee03352a29c2226d0dc30f" },
    { 127, true,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "e8cca971143b496fbb36ad5d7ffcff7ca1c5c5d18796378be4b1a147d5a07a25"
      "62e1004c874032a4cc7e44e29eb21647d3ed9eb6d278b05db7df786efbbbe60b" },
    { 128, true,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "292f6e5e86c7a90aa08166607ed821e5ee3b6c025e5ceafc4bf0f2cc84fde422"
      "7db6373a830b2e3a30472c1878fa9233e77126894a941527bb448deed7363e01" },
    { 239, true,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "db178360a37d9977747839caca651abbba636d95f0d276dfe2432b10668915e3"
      "2d2eca0fb7b198280afb1e9235a540df7f81f820cccc68c99a1b57d91c85cb0b" },
    { 240, true,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "b551780e3b1b7407db72f6532c4d585e8fb6de11522652b7e8e88da77af91663"
      "5e873a75be24b9228fe829b833d5615c10b87f9cd655b7ab9cfed13560671005" },
    { 4144, true,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "ca390cd4fb2b31d3cf09e0d678f333409f5d6e6e65d2013fe07d4d864130d6fe"
      "71602a673174dcf99cbdf7ce0eebfa98178c613db7f2e6655733c2e2bcce7807" },
    { 4192, true,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "fff22f65b51d786f9b3e196c4633f3013ab5fcfd3cf1b9a9d9697d4260c45fd9"
      "e18cf73d22ab26ce83f098dcad3bbce67c0e687e03fa28855a8bb169cce58b06" },
    { 7, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "0000000000000000000000000000000000000000000000000000000000000000"
      "67efa43062dacb5fabf74767197035dba487ba7936ea0dc10c2a161ec8649402" },
    { 0, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "0000000000000000000000000000000000000000000000000000000000000080"
      "ed457f9a0b90f13e35acd09ee17acb88567ee630db54332adc0c72b8cf27830c" },
    { 1, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "0100000000000000000000000000000000000000000000000000000000000000"
      "4bff04f71520ea2772cdfd6b9371299e2d23180f274a2ae614217adc0b1d0f07" },
    { 17, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "0100000000000000000000000000000000000000000000000000000000000080"
      "5455974c32c8e2d459dce489563e1e0ee4fc07839a757947827e7377a1a4640a" },
    { 7, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"
      "d6e13876648f7881c2bc6e02d02a487415e49b82a88bf24fdd07f5b966809a03" },
    { 2, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"
      "55ac97b435c168a7cfb1b4bd0b832ab7008397f70b67f52b8e9e919e3142dd05" },
    { 3, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
      "b7ba864a5ee6c2bf6740c5436576c437d536eaf9ba15080e828ded9726107c06" },
    { 11, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"
      "fba8bb2ed975b9eec3d523cc0c2b8796da295ae43cf93188dd6897439889750c" },
    { 3, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
      "883ec6cdd5112ce3a9891228737fe10aa10e03a3b5a6393063d712dde0c9b70f" },
    { 2, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
      "b6aef1e9dde2f1e6a8304638c3a276ddd1a0ccea2f8440cf041c6a5677154200" },
    { 0, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
      "e3964ce1eddba54344023813e256b66d6801985f2ecb6d270c5f52b859c3a40c" },
    { 1, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
      "6fcb035fa79cce202922e449c538348af5127a1f7fb6bd3ecb7d91a8aab50e07" },
    { 5, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
      "b050164e37c73bc211123ea55b30a6ff47033e9e304a2242c1ccfebdcca21e01" },
    { 14, false,
      "951b2702cc22a78c4d8a67dc0f5aaa4a91e30520c54572cec597722c349e1758",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
      "fe517949d55b281780b2b1423faa76a88b7702437a094f2d38d4c3e5df764301" },
    { 9, false,
      "0000000000000000000000000000000000000000000000000000000000000000",
      "de900ca37e74adeb1ec2bed05c74a14e840ce72cc2f2234fe26dfd755d041e32"
      "1ec857f745f7b8edef35ea30e686ff2d3d1d97cf854bc76fa8b89422fefdc907" },
    { 7, false,
      "0000000000000000000000000000000000000000000000000000000000000080",
      "95ee4349e2653b9675bc137773b4715c5fb94f78614964333b78a64f47819d58"
      "86ae290570f8d06bc86f6f9ca9bf187ef561d5bad3055a3c24fef2341182bc05" },
    { 0, false,
      "0100000000000000000000000000000000000000000000000000000000000000",
      "595181e299ed6f20648281b9ecd9e1492c4bfee035b2ec025d376d1d2a93578f"
      "093107c18ffd830f7e0a68fd0d94ae77b84c4c6631e9c5474b347e24fb4fa905" },
    { 0, false,
      "0100000000000000000000000000000000000000000000000000000000000080",
      "a4c2389f48c19d494e86ad0e19afec6cc8b9c0af75445b12b042ac703cb63dba"
      "938d5647d315e23fd2e6b63abcad0f6d53346a53b805480af842ad1d21c8a403" },
    { 17, false,
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "53124bf714cf2716916c55ed9301bb98fefe0ef83d3b2cdae2a509bcbe41c515"
      "86038a04f9a0d6e90f71ddd9739abaff8eb8f41ace6cbecdc5b3d8184eb87202" },
    { 10, false,
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
      "bab4bdadac0f50e80b2ab074902e442b4a372d06edeb6676af0d27cfa8e4da52"
      "36e43919d91a72ed792a5245c004fb86a88e54fa91a369688d9e26971f0d590d" },
    { 0, false,
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
      "2fb1a20231f56ede4d5e7d0835b1e1616ab9a6bdfb9b404bcf2c4862d48ef572"
      "7b7226ee0b4a563bf1aeb4f49c23b1c76cf8b85957ea631678722ab6af2bf609" },
    { 4, false,
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
      "b8f32b377cc85e76289148dab285a4b94594314e218c1613d49df96e49bea8fc"
      "a9b38a23bdc97c14e90c1e2146e948f251e69a72e2f8eeb33483358a12875f09" },
    { 0, false,
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "868f715ab6111ac95a811248767b0123d876f1714058dcaa061b444519cab982"
      "c4fca6afac23d72701582e6cad509bd192cc9e2d0f09c3f444f314d46a201d01" },
    { 0, false,
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
      "de15817da5e81fcae26e827cc64ccb5796972d8f829682f8f4e11e13667a8f2c"
      "3112fba92a7cb8044009ce566a782fb27abbefb86183d44ecd6050cbb8010703" },
    { 0, false,
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "2c1288848085985b19156c3cb576422432e6eb9aed3ab2bba84ddd2d4c4fda88"
      "e44be8dd74a9304aacb9cdc4b9e3b27bc240cf5157d5c339c599660875fc4c0f" },
    { 1, false,
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
      "ef89083d64332985c35a5407b5a428340d343cfbad986c077121e1d998182b2b"
      "b93340f9e2dba4fa480ba6a7a347be266db9774ecb5bffa28dce5d6214ddbb02" },
    { 0, false,
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "d542a63255e91c55f74c81a236abb3ddc97719c615fe2230f9eb068f1dbbd2dd"
      "d56b233284cbbdef2a10fd0c347725ad4473bb196ef6761f1852db62e1261b04" },
    { 0, false,
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
      "1b77c3756cf234bf2309baed00c2d9b031366462163b6404e6887cf7962cb837"
      "ffee3bffa20933415003aaed7c191349081f4142588ef0e72c340bb473b91803" },
    { 72, false,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "d6e75a8fc7de2774883d314e8d5d5462d4ebf2b653da9f39dc18268d99dcf20a"
      "ecd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010" },
    { 72, false,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "d6e75a8fc7de2774883d314e8d5d5462d4ebf2b653da9f39dc18268d99dcf20a"
      "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010" },
    { 72, false,
      "4685b8cc15c827ded1721c953125f0472fd5fce94eea716f441da5735d94729a",
      "d6e75a8fc7de2774883d314e8d5d5462d4ebf2b653da9f39dc18268d99dcf20a"
      "0000000000000000000000000000000000000000000000000000000000000010" },
};
/* clang-format on */

enum {
    SHORT_MAX = 32,
    MESSAGE_MAX = 4192, /* OPERATOR_MESSAGE_MAX */
    MUTATIONS = 4,      /* of a good row; each makes it bad */
    GOOD_ROWS = 5,
    GOOD_MADE = 10, /* the first ones */
    KEYS = 7,       /* that can sign */
    VECTORS = CC_COUNT(rows) + GOOD_ROWS * MUTATIONS + CC_COUNT(made) + GOOD_MADE,
    AT_ONCE = 50,
};

static_assert((unsigned)AT_ONCE <= ED25519_BATCH_MAX && (unsigned)VECTORS <= 2 * AT_ONCE,
              "two calls take them all");

struct vector {
    uint8_t key[ED25519_KEY_BYTES];
    uint8_t signature[ED25519_SIGNATURE_BYTES];
    uint8_t text[SHORT_MAX];
    const uint8_t *pattern; /* NULL: the message is `text` */
    size_t message_bytes;
    bool good;
};

/* ed25519_selftest writes these; they are too large for a stack. */
static alignas(ED25519_TABLE_ALIGN) struct ed25519_multiple
    multiples[KEYS][ED25519_TABLE_POSITIONS * ED25519_TABLE_MULTIPLES],
    multiples_small[KEYS][ED25519_TABLE_POSITIONS_SMALL * ED25519_TABLE_MULTIPLES];
static uint8_t pattern[MESSAGE_MAX];
static uint8_t changed[GOOD_MADE][MESSAGE_MAX]; /* the pattern, another last byte of the message */

static void read_keys(struct vector *vector, const char *key, const char *signature)
{
    bool read =
        hex_decode(vector->key, sizeof vector->key, key, strlen(key)) &&
        hex_decode(vector->signature, sizeof vector->signature, signature, strlen(signature));
    INVARIANT(read);
}

static void read_row(struct vector *vector, const struct row *row)
{
    *vector = (struct vector){ .message_bytes = strlen(row->message), .good = row->good };
    INVARIANT(vector->message_bytes < SHORT_MAX);
    memcpy(vector->text, row->message, vector->message_bytes);
    read_keys(vector, row->key, row->signature);
}

static void read_made(struct vector *vector, const struct made *row)
{
    *vector = (struct vector){ .pattern = pattern,
                               .message_bytes = row->message_bytes,
                               .good = row->good };
    INVARIANT(vector->message_bytes <= MESSAGE_MAX);
    read_keys(vector, row->key, row->signature);
}

/* S + L satisfies the same equation as S. */
static void add_order(uint8_t scalar[32])
{
    static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,
                                       0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
                                       0,    0,    0,    0,    0,    0,    0,    0,
                                       0,    0,    0,    0,    0,    0,    0,    0x10 };
    unsigned sum = 0;
    for (unsigned i = 0; i < sizeof order; i++) {
        sum += (unsigned)scalar[i] + order[i];
        scalar[i] = (uint8_t)sum;
        sum >>= 8;
    }
}

static void mutate(struct vector *vector, unsigned mutation)
{
    vector->good = false;
    switch (mutation) {
    case 0:
        add_order(vector->signature + 32);
        break;
    case 1:
        vector->signature[0] ^= 1; /* R */
        break;
    case 2:
        vector->signature[32] ^= 1; /* S */
        break;
    default:
        vector->message_bytes++;
        break;
    }
}

/* The pattern, and for each good length a copy that differs in the last byte of the message alone:
 * it lies in another block than the first. */
static void fill_patterns(void)
{
    for (unsigned i = 0; i < MESSAGE_MAX; i++)
        pattern[i] = (uint8_t)(i * 131 + (i >> 8) * 17 + 7);
    for (unsigned i = 0; i < GOOD_MADE; i++) {
        memcpy(changed[i], pattern, MESSAGE_MAX);
        if (made[i].message_bytes > 0)
            changed[i][made[i].message_bytes - 1] ^= 1;
    }
}

static void fill(struct vector vectors[VECTORS])
{
    unsigned count = 0;
    fill_patterns();
    for (unsigned i = 0; i < CC_COUNT(rows); i++) {
        struct vector vector;
        read_row(&vector, &rows[i]);
        vectors[count++] = vector;
        for (unsigned mutation = 0; rows[i].good && mutation < MUTATIONS; mutation++) {
            INVARIANT(count < VECTORS);
            vectors[count] = vector;
            mutate(&vectors[count++], mutation);
        }
    }
    for (unsigned i = 0; i < CC_COUNT(made); i++) {
        read_made(&vectors[count++], &made[i]);
        INVARIANT(made[i].good == (i < GOOD_MADE));
        if (i >= GOOD_MADE)
            continue;
        vectors[count] = vectors[count - 1];
        vectors[count].pattern = changed[i];
        vectors[count].message_bytes += made[i].message_bytes == 0; /* of 0 bytes none differs */
        vectors[count++].good = false;
    }
    INVARIANT(count == VECTORS);
}

/* Builds a table of `positions` for each key that can sign. Returns how many keys. */
static unsigned build_tables(struct ed25519_table tables[KEYS], uint32_t positions,
                             const struct vector vectors[VECTORS])
{
    bool is_small = positions == ED25519_TABLE_POSITIONS_SMALL;
    unsigned count = 0;
    for (unsigned i = 0; i < VECTORS; i++) {
        unsigned known = 0;
        while (known < count &&
               memcmp(tables[known].key, vectors[i].key, sizeof vectors[i].key) != 0)
            known++;
        if (known < count || !ed25519_key_is_valid(vectors[i].key))
            continue;
        INVARIANT(count < KEYS);
        struct ed25519_multiple *into = is_small ? multiples_small[count] : multiples[count];
        if (ed25519_table_build(into, positions, vectors[i].key) != 0)
            continue;
        tables[count] = (struct ed25519_table){ .multiples = into, .positions = positions };
        memcpy(tables[count++].key, vectors[i].key, sizeof vectors[i].key);
    }
    return count;
}

static const struct ed25519_table *find(const struct ed25519_table *tables, unsigned count,
                                        const uint8_t key[ED25519_KEY_BYTES])
{
    for (unsigned i = 0; i < count; i++)
        if (memcmp(tables[i].key, key, ED25519_KEY_BYTES) == 0)
            return &tables[i];
    return NULL;
}

/* Which table a job gets. */
enum kind { NONE, SMALL, LARGE, MIXED /* each of the three in turn */ };

struct tables {
    struct ed25519_table small[KEYS], large[KEYS];
    unsigned count; /* 0: not built */
};

static const struct ed25519_table *table_of(const struct tables *tables, enum kind kind, unsigned i,
                                            const uint8_t key[ED25519_KEY_BYTES])
{
    kind = kind == MIXED ? (enum kind)(i % 3) : kind;
    return kind == NONE ? NULL
                        : find(kind == SMALL ? tables->small : tables->large, tables->count, key);
}

/* Verifies all vectors from the one at `shift` on, `at_once` a call. Another shift moves each
 * vector to another lane. */
static bool passes(enum ed25519_path path, const struct vector vectors[VECTORS],
                   const struct tables *tables, enum kind kind, unsigned shift, unsigned at_once)
{
    struct ed25519_job jobs[AT_ONCE];
    INVARIANT(at_once <= AT_ONCE);
    for (unsigned first = 0; first < VECTORS; first += at_once) {
        unsigned count = VECTORS - first < at_once ? VECTORS - first : at_once;
        for (unsigned i = 0; i < count; i++) {
            const struct vector *vector = &vectors[(first + i + shift) % VECTORS];
            jobs[i] =
                (struct ed25519_job){ vector->key, vector->signature,
                                      vector->pattern != NULL ? vector->pattern : vector->text,
                                      vector->message_bytes,
                                      table_of(tables, kind, i + shift, vector->key) };
        }
        uint64_t good = ed25519_verify_by(path, jobs, count);
        for (unsigned i = 0; i < count; i++)
            if ((good >> i & 1) != vectors[(first + i + shift) % VECTORS].good)
                return false;
    }
    return true;
}

/* The checks of a key by itself: no encoding of small order, none of a y from p up to 2^255 - 1,
 * with either sign. No signature shows the latter, whose secret nobody knows. */
static bool keys_are_checked(void)
{
    uint8_t key[ED25519_KEY_BYTES];
    for (unsigned i = GOOD_MADE; i < CC_COUNT(made); i++) {
        bool read = hex_decode(key, sizeof key, made[i].key, strlen(made[i].key));
        if (!read || ed25519_key_is_valid(key) != (strcmp(made[i].key, made[GOOD_MADE].key) == 0 ||
                                                   strcmp(made[i].key, made[0].key) == 0))
            return false;
    }
    for (unsigned sign = 0; sign < 2; sign++)
        for (unsigned low = 0xec; low <= 0xff; low++) { /* p - 1 is of small order */
            memset(key, 0xff, sizeof key);
            key[0] = (uint8_t)low;
            key[31] = (uint8_t)(0x7f | sign << 7);
            if (ed25519_key_is_valid(key))
                return false;
        }
    key[0] = 0xeb; /* p - 2 */
    return ed25519_key_is_valid(key);
}

/* In full calls of the lanes every vector meets every lane. Calls of 2 to 4 jobs, and those without
 * tables, are too slow for that. Good vectors are so close that one round brings some to each lane
 * of 2, 3 and 4 and two rounds to each lane of 8; bad vectors are more and reach every lane. */
bool ed25519_selftest(enum ed25519_path path)
{
    static struct tables tables; /* too large for a stack, as these */
    static struct vector vectors[VECTORS];
    unsigned shifts = path == ED25519_LANES ? ED25519_LANES_COUNT : 1;
    fill(vectors);
    for (unsigned shift = 0; shift < shifts && shift < 2; shift++)
        if (!passes(path, vectors, &tables, NONE, shift, AT_ONCE))
            return false;
    if (path == ED25519_LIBRARY)
        return true;
    tables.count = build_tables(tables.large, ED25519_TABLE_POSITIONS, vectors);
    if (tables.count != KEYS || !keys_are_checked() ||
        build_tables(tables.small, ED25519_TABLE_POSITIONS_SMALL, vectors) != KEYS)
        return false;
    for (unsigned kind = SMALL; kind <= MIXED; kind++)
        for (unsigned shift = 0; shift < shifts; shift++)
            if (!passes(path, vectors, &tables, (enum kind)kind, shift, AT_ONCE))
                return false;
    for (unsigned at_once = 1; at_once <= ED25519_LANES_SPLIT_MAX; at_once++)
        if (path == ED25519_LANES && !passes(path, vectors, &tables, LARGE, 0, at_once))
            return false;
    return true;
}
