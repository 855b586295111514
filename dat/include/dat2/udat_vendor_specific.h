/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/udat_vendor_specific.h: the place for constants of single vendors in the user API. SoftDAT
 * has none here; its own additions are in dat2/softdat.h. */
#ifndef _UDAT_VENDOR_SPECIFIC_H_
#define _UDAT_VENDOR_SPECIFIC_H_

#include <dat2/dat_vendor_specific.h>

#endif /* _UDAT_VENDOR_SPECIFIC_H_ */
