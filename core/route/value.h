/* SPDX-License-Identifier: MIT
 *
 * What an app may demand of a variable's values: that they are integers, numbers or
 * UUIDs.  Works on values in normal form, where neither digits nor letters are ever
 * escaped. */
#ifndef LW_ROUTE_VALUE_H
#define LW_ROUTE_VALUE_H

#include <stdbool.h>

#include "base/abi_app.h"

/* Whether a value meets a demand.  Integers: a minus perhaps, digits, from -2^53 to
 * 2^53.  Numbers: a fraction and an exponent perhaps besides, below 1e308.  UUIDs: RFC
 * 9562 §4, any version, in either case. */
bool lw_value_meets(enum luaweb_demand demand, struct luaweb_slice value);

#endif
