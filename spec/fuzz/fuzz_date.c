/* SPDX-License-Identifier: MIT
 *
 * Fuzzes HTTP-date.  The first eight octets are the clock, the rest is the date.  What
 * can be read can be written, and is read again as the same time.  RFC 9110 §5.6.7. */
#include "base/date.h"
#include "base/require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t now;
    if (size < sizeof now)
        return 0;
    memcpy(&now, data, sizeof now);
    struct luaweb_slice text = {(const char *)data + sizeof now, size - sizeof now};

    char written[29];
    int64_t again;
    if (lw_date_format(now, written)) {
        lw_require(lw_date_parse(lw_slice(written, sizeof written), now, &again));
        lw_require(again == now);
    }

    int64_t epoch;
    if (!lw_date_parse(text, now, &epoch))
        return 0;
    lw_require(text.size >= 24 && text.size <= 33);
    lw_require(lw_date_format(epoch, written));
    lw_require(lw_date_parse(lw_slice(written, sizeof written), now, &again));
    lw_require(again == epoch);
    return 0;
}
