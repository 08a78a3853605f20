/* SPDX-License-Identifier: MIT
 *
 * What the short body of a refusal says beside its status: what there is to choose
 * from, which field to send (RFC 9110 §15.5.7, §15.5.14; RFC 6585 §3).  Nothing of the
 * request goes into it. */
#ifndef LW_MACHINE_DETAIL_H
#define LW_MACHINE_DETAIL_H

#include "machine/walk.h"

/* A sentence without its end, maybe empty; static, or lent by the walk's arena. */
struct luaweb_slice lw_detail(struct lw_walk *walk);

#endif
