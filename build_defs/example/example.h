/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of the example library that tests build_defs/shared_library.bzl. */
#ifndef SOFTDAT_BUILD_DEFS_EXAMPLE_EXAMPLE_H_
#define SOFTDAT_BUILD_DEFS_EXAMPLE_EXAMPLE_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts the blank-separated words in the `size` bytes at `text`. */
size_t softdat_example_words(const char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_BUILD_DEFS_EXAMPLE_EXAMPLE_H_ */
