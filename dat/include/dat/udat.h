/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/udat.h: the header that a uDAPL 1.2 program includes; it is linked with -ldat. Programs
 * for 1.0 and 1.1 are programs for 1.2.
 *
 * Layout: dat/api/ has one header per object, in reading order: types.h (shared words), ia.h and
 * attributes.h (adapter), event.h, evd.h and cno.h (events), memory.h (PZ, LMR, RMR), ep.h, dto.h
 * and srq.h (end points and transfers), service_point.h (accepting). Providers also include
 * dat/dat_registry.h.
 *
 * These headers and those of uDAPL 2.0 (dat2/udat.h) declare the same names with other values and
 * layouts: a program may use both, in different files. What a call does, and what it checks in
 * which order, is the same in both; its text is with the 2.0 call, and dat2/udat.h says how to read
 * it. */
#ifndef _UDAT_H_
#define _UDAT_H_

#include <dat/dat.h>
#include <dat/dat_platform_specific.h>
#include <dat/udat_config.h>
#include <dat/udat_vendor_specific.h>

#endif /* _UDAT_H_ */
