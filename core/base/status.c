/* SPDX-License-Identifier: MIT
 *
 * Reason phrases by status code. */
#include "base/status.h"

#include <stddef.h>

static const struct {
    int code;
    const char *reason;
} reasons[] = {
#define LW_ROW(code, reason) {code, reason},
    LW_STATUSES(LW_ROW)
#undef LW_ROW
};

const char *lw_status_reason(int code)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].code == code)
            return reasons[i].reason;
    return "";
}
