/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generated ABI tests share: comparing types at compile time, counting rows, comparing
 * texts and arguments at run time. Usable as C11 and as C++20. */
#ifndef SOFTDAT_TESTS_ABI_ABI_TEST_SUPPORT_H_
#define SOFTDAT_TESTS_ABI_ABI_TEST_SUPPORT_H_

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
#include <type_traits>
#define ABI_STATIC(condition, row) static_assert(condition, row)
#define ABI_SAME_TYPE(a, b) (std::is_same<a, b>::value)
#define ABI_IS_ENUM(type) (std::is_enum<type>::value)
#define ABI_IS_UNION(type) (std::is_union<type>::value)
#define ABI_IS_STRUCT(type) (std::is_class<type>::value)
#define ABI_LANGUAGE "C++"
#else
#define ABI_STATIC(condition, row) _Static_assert(condition, row)
#define ABI_SAME_TYPE(a, b) _Generic((__typeof__(a)*)0, __typeof__(b)* : 1, default : 0)
/* C cannot ask what a type is. The compilation as C++ does. */
#define ABI_IS_ENUM(type) 1
#define ABI_IS_UNION(type) 1
#define ABI_IS_STRUCT(type) 1
#define ABI_LANGUAGE "C"
#endif

/* Text of the full expansion of a macro. */
#define ABI_TEXT_OF(...) #__VA_ARGS__
#define ABI_EXPANSION(...) ABI_TEXT_OF(__VA_ARGS__)

enum { kAbiMaxArgs = 16, kAbiMaxArgBytes = 32 };

/* Arguments as a stub received them. */
struct abi_args {
  int count;
  size_t size[kAbiMaxArgs];
  unsigned char bytes[kAbiMaxArgs][kAbiMaxArgBytes];
};

static struct abi_args abi_got;
static int abi_failures;

static inline void abi_record(const void* value, size_t size) {
  if (abi_got.count >= kAbiMaxArgs || size > kAbiMaxArgBytes) {
    ++abi_failures;
    return;
  }
  abi_got.size[abi_got.count] = size;
  memcpy(abi_got.bytes[abi_got.count], value, size);
  ++abi_got.count;
}

static inline int abi_arg_is(int index, const void* value, size_t size) {
  return index < abi_got.count && abi_got.size[index] == size &&
         memcmp(abi_got.bytes[index], value, size) == 0;
}

static inline void abi_forget(void) { memset(&abi_got, 0, sizeof abi_got); }

/* Checks one row at run time: counts it, and says which one is wrong. */
static inline void abi_check(int* counter, int holds, const char* row) {
  ++*counter;
  if (holds) return;
  ++abi_failures;
  printf("FAILED %s\n", row);
}

/* Prints one line of the report. A row of the table that was not checked fails the test. */
static inline void abi_report(const char* kind, int in_table, int checked) {
  printf("%-10s %4d rows, %4d checked as %s\n", kind, in_table, checked, ABI_LANGUAGE);
  if (checked != in_table) {
    ++abi_failures;
    printf("FAILED %s: not all rows were checked\n", kind);
  }
}

#endif /* SOFTDAT_TESTS_ABI_ABI_TEST_SUPPORT_H_ */
