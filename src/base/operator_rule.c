#include "base/operator_rule.h"

static const struct {
    const char *field, *text;
} rules[OPERATOR_RULE_END] = {
#define X(name, field, text) [OPERATOR_RULE_##name] = { field, text },
    OPERATOR_RULE_LIST(X)
#undef X
};

const char *operator_rule_field(uint32_t rule)
{
    return rule < OPERATOR_RULE_END ? rules[rule].field : NULL;
}

const char *operator_rule_text(uint32_t rule)
{
    return rule < OPERATOR_RULE_END ? rules[rule].text : NULL;
}
