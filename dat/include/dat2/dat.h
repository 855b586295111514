/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/dat.h: all types, constants and calls of the DAT API, by object. Programs include
 * dat2/udat.h. */
#ifndef _DAT_H_
#define _DAT_H_

#include <dat2/api/attributes.h>
#include <dat2/api/cno.h>
#include <dat2/api/dto.h>
#include <dat2/api/ep.h>
#include <dat2/api/evd.h>
#include <dat2/api/event.h>
#include <dat2/api/ia.h>
#include <dat2/api/memory.h>
#include <dat2/api/service_point.h>
#include <dat2/api/srq.h>
#include <dat2/api/types.h>
#include <dat2/dat_error.h>
#include <dat2/dat_platform_specific.h>
#include <dat2/udat_config.h>

/* The table of a provider's entry points; see dat2/udat_redirection.h. */
typedef struct dat_provider DAT_PROVIDER;

#endif /* _DAT_H_ */
