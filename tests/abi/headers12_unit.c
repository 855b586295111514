/* SPDX-License-Identifier: BSD-3-Clause */
/* One translation unit of C that includes all public headers of uDAPL 1.2, like headers_unit.c. */
#include "tests/abi/headers12_standard_check.h"

const char* HEADERS_CHECK_NAME(void);

const char* HEADERS_CHECK_NAME(void) {
  const DAT_RETURN failed = DAT_CLASS_ERROR | (DAT_RETURN)DAT_INVALID_STATE;
  return DAT_GET_TYPE(failed) == (DAT_RETURN)DAT_INVALID_STATE ? "an error of uDAPL 1.2" : NULL;
}
