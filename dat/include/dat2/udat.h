/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/udat.h: the header that a uDAPL 2.0 program includes.
 *
 * Layout: dat2/api/ has one header per object, in reading order: types.h (shared words), ia.h and
 * attributes.h (adapter), event.h, evd.h and cno.h (events), memory.h (PZ, LMR, RMR), ep.h, dto.h
 * and srq.h (end points and transfers), service_point.h (accepting). Providers also include
 * dat2/dat_registry.h; extended operations of the InfiniBand family are in
 * dat2/dat_ib_extensions.h, and what is SoftDAT's own in dat2/softdat.h.
 *
 * How to read the text of a call. @return lists the types that it may return besides the ones that
 * hold for all calls, with their subtypes in parentheses without the prefix DAT_:
 * "DAT_INVALID_PARAMETER (ARG2: ...)" is the return word DAT_CLASS_ERROR | DAT_INVALID_PARAMETER |
 * DAT_INVALID_ARG2, for the second argument. The last line says whether it may block, which threads
 * may call it, and the clause that it comes from. For all calls:
 *
 * - a handle that is NULL, stale or of another kind gives DAT_INVALID_HANDLE with the subtype of
 * the kind that was expected, before anything else is looked at;
 * - then pointers, then masks and values, then states are checked;
 * - a query may fill in more than its mask asks for;
 * - a call that fails has changed nothing, unless its text says otherwise;
 * - DAT_INTERNAL_ERROR may come from any;
 * - "any thread" means any number of them at a time, but never a signal handler;
 * - after fork() handles are good in the parent only; in the child a call with one returns an
 * error. */
#ifndef _UDAT_H_
#define _UDAT_H_

#include <dat2/dat.h>
#include <dat2/dat_platform_specific.h>
#include <dat2/udat_config.h>
#include <dat2/udat_vendor_specific.h>

#endif /* _UDAT_H_ */
