/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/udat.h: the header that a uDAPL 2.0 program includes.
 *
 * Layout: dat2/api/ has one header per object, in reading order: types.h (shared words), ia.h and
 * attributes.h (adapter), event.h, evd.h and cno.h (events), memory.h (PZ, LMR, RMR), ep.h, dto.h
 * and srq.h (end points and transfers), service_point.h (accepting). Providers also include
 * dat2/dat_registry.h; extended operations of the InfiniBand family are in
 * dat2/dat_ib_extensions.h, and what is SoftDAT's own in dat2/softdat.h.
 *
 * Each call is documented with its own codes. These hold for all:
 * - a handle that is NULL, stale or of another kind gives DAT_INVALID_HANDLE with the subtype of
 * the kind that was expected, before anything else is looked at;
 * - then pointers (DAT_INVALID_PARAMETER with DAT_INVALID_ARGn), then masks and values, then states
 * are checked;
 * - a query with an unknown mask bit or a NULL result is DAT_INVALID_PARAMETER, and may fill in
 * more than was asked;
 * - a call that fails changed nothing, unless it says otherwise;
 * - any call may return DAT_INTERNAL_ERROR;
 * - all calls may be made from any thread at any time, except from a signal handler; a call does
 * not block unless its text says so;
 * - after fork() handles are good in the parent only; in the child every call with one returns an
 * error. */
#ifndef _UDAT_H_
#define _UDAT_H_

#include <dat2/dat.h>
#include <dat2/dat_platform_specific.h>
#include <dat2/udat_config.h>
#include <dat2/udat_vendor_specific.h>

#endif /* _UDAT_H_ */
