#include "base/request.h"

#define X(row_name, row_code, row_signer, row_path, row_form, bytes, row_answer, row_built) \
    { .code = (row_code),                                                                   \
      .body_bytes = (bytes),                                                                \
      .signer = SIGNER_##row_signer,                                                        \
      .form = BODY_##row_form,                                                              \
      .answer = ANSWER_##row_answer,                                                        \
      .built = (row_built),                                                                 \
      .name = #row_name,                                                                    \
      .path = (row_path) },
static const struct request requests[] = { REQUEST_LIST(X) };
#undef X

enum request_index {
#define X(name, code, signer, path, form, bytes, answer, built) INDEX_##name,
    REQUEST_LIST(X)
#undef X
        INDEX_COUNT
};

const struct request *request_find(uint32_t code)
{
    switch (code) {
#define X(name, value, signer, path, form, bytes, answer, built) \
    case value:                                                  \
        return &requests[INDEX_##name];
        REQUEST_LIST(X)
#undef X
    default:
        return NULL;
    }
}

const struct request *request_table(size_t *count)
{
    *count = INDEX_COUNT;
    return requests;
}
