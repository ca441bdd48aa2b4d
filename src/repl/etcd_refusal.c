#include "repl/etcd_refusal.h"

#include "repl/h2.h"

/* etcd's codes are coarse: its words tell more. They are the same in 3.4, 3.5 and 3.6. */
bool etcd_refusal_is_final(int status, const char *text, enum etcd_result *result)
{
    *result = ETCD_REFUSED;
    switch (status) {
    case H2_TOO_LARGE:
        *result = ETCD_TOO_LARGE;
        return true;
    case H2_INVALID:
        if (strstr(text, "too large") != NULL)
            *result = ETCD_TOO_LARGE;
        return true;
    case H2_EXHAUSTED:
        if (strstr(text, "space exceeded") != NULL)
            *result = ETCD_NO_SPACE;
        else if (strstr(text, "larger than max") != NULL)
            *result = ETCD_TOO_LARGE;
        return *result != ETCD_REFUSED; /* else: too many requests */
    case H2_NOT_FOUND:
        if (strstr(text, "lease not found") != NULL)
            *result = ETCD_NO_LEASE;
        return true;
    case H2_DENIED:
    case H2_UNAUTHENTICATED:
        *result = ETCD_DENIED;
        return true;
    case H2_OUT_OF_RANGE:
        if (strstr(text, "compacted") != NULL)
            *result = ETCD_COMPACTED;
        return true;
    case H2_PRECONDITION:
    case H2_UNIMPLEMENTED:
        return true;
    default:
        return false;
    }
}
