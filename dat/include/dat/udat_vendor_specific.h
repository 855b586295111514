/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/udat_vendor_specific.h: the place for constants of single vendors in the user API. There
 * are none. */
#ifndef _UDAT_VENDOR_SPECIFIC_H_
#define _UDAT_VENDOR_SPECIFIC_H_

#include <dat/dat_vendor_specific.h>

#endif /* _UDAT_VENDOR_SPECIFIC_H_ */
