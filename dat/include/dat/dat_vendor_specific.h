/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/dat_vendor_specific.h: the place for constants of single vendors that all variants of the
 * API share. There are none. */
#ifndef _DAT_VENDOR_SPECIFIC_H_
#define _DAT_VENDOR_SPECIFIC_H_

#endif /* _DAT_VENDOR_SPECIFIC_H_ */
