/* SPDX-License-Identifier: MIT
 *
 * Reason phrases by status code. */
#include "base/status.h"

const char *lw_status_reason(int code)
{
    switch (code) {
#define LW_REASON(number, reason)                                                        \
    case number: return reason;
        LW_STATUSES(LW_REASON)
#undef LW_REASON
    default: return "";
    }
}
