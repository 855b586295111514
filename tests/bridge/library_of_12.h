/* SPDX-License-Identifier: BSD-3-Clause */
/* library_of_12.h: a library that is a program of uDAPL 1.2, for programs of any version. */
#ifndef SOFTDAT_TESTS_BRIDGE_LIBRARY_OF_12_H_
#define SOFTDAT_TESTS_BRIDGE_LIBRARY_OF_12_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the adapter, connects to the service point at its own address, and sends the text.
 * `foreign` is a protection zone of 2.0, which 1.2 must refuse. Returns NULL, or what went wrong.
 */
__attribute__((visibility("default"))) const char* send_by_12(char* ia_name,
                                                              unsigned long qualifier,
                                                              const char* text, void* foreign);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_TESTS_BRIDGE_LIBRARY_OF_12_H_ */
