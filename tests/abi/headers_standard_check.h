/* SPDX-License-Identifier: BSD-3-Clause */
/* Includes every public header once; compiled under several language standards with -pedantic. The
 * including file sets HEADERS_CHECK_NAME to a name of its own. */
#ifndef SOFTDAT_TESTS_ABI_HEADERS_STANDARD_CHECK_H_
#define SOFTDAT_TESTS_ABI_HEADERS_STANDARD_CHECK_H_

#include <dat2/dat.h>
#include <dat2/dat_error.h>
#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_platform_specific.h>
#include <dat2/dat_redirection.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_vendor_specific.h>
#include <dat2/softdat.h>
#include <dat2/udat.h>
#include <dat2/udat_config.h>
#include <dat2/udat_redirection.h>
#include <dat2/udat_vendor_specific.h>

#endif /* SOFTDAT_TESTS_ABI_HEADERS_STANDARD_CHECK_H_ */
