/* SPDX-License-Identifier: MIT
 *
 * What the template of its resource captured, decoded for the request to keep. */
#ifndef LW_NET_PARAMS_H
#define LW_NET_PARAMS_H

#include "machine/app.h"
#include "net/request.h"

/* Fills in the parameters of a request that goes to a handler. */
void lw_params_fill(struct lw_request *request, const struct lw_decision *decision);

#endif
