/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/dat.h: all types, constants and calls of the DAT API, by object. Programs include
 * dat/udat.h. */
#ifndef _DAT_H_
#define _DAT_H_

#include <dat/api/attributes.h>
#include <dat/api/cno.h>
#include <dat/api/dto.h>
#include <dat/api/ep.h>
#include <dat/api/evd.h>
#include <dat/api/event.h>
#include <dat/api/ia.h>
#include <dat/api/memory.h>
#include <dat/api/service_point.h>
#include <dat/api/srq.h>
#include <dat/api/types.h>
#include <dat/dat_error.h>
#include <dat/dat_platform_specific.h>
#include <dat/udat_config.h>

/* The table of a provider's entry points; see dat/udat_redirection.h. */
typedef struct dat_provider DAT_PROVIDER;

#endif /* _DAT_H_ */
