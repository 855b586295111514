/* SPDX-License-Identifier: BSD-3-Clause */
/* One translation unit of C that includes all public headers; built once for each language
 * standard. Two of them in one program also show that the headers define nothing twice. */
#include "tests/abi/headers_standard_check.h"

const char* HEADERS_CHECK_NAME(void);

const char* HEADERS_CHECK_NAME(void) {
  const char* text = NULL;
  (void)dat_strerror_extension(DAT_IB_ERR, &text);
  return text;
}
