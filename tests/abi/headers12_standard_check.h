/* SPDX-License-Identifier: BSD-3-Clause */
/* Includes every public header of uDAPL 1.2 once; compiled under several language standards with
 * -pedantic. The including file sets HEADERS_CHECK_NAME to a name of its own. */
#ifndef SOFTDAT_TESTS_ABI_HEADERS12_STANDARD_CHECK_H_
#define SOFTDAT_TESTS_ABI_HEADERS12_STANDARD_CHECK_H_

#include <dat/dat.h>
#include <dat/dat_error.h>
#include <dat/dat_platform_specific.h>
#include <dat/dat_redirection.h>
#include <dat/dat_registry.h>
#include <dat/dat_vendor_specific.h>
#include <dat/udat.h>
#include <dat/udat_config.h>
#include <dat/udat_redirection.h>
#include <dat/udat_vendor_specific.h>

#endif /* SOFTDAT_TESTS_ABI_HEADERS12_STANDARD_CHECK_H_ */
