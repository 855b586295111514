// SPDX-License-Identifier: BSD-3-Clause
// The public headers compile without a warning under the language standards that programs use.
// Several such units, of uDAPL 2.0 and of 1.2, link into one program.
#include <cstdio>
#include <initializer_list>

extern "C" {
const char* HeadersAsC89(void);
const char* HeadersAsC99(void);
const char* HeadersAsGnu11(void);
const char* HeadersAsCxx11(void);
const char* HeadersAsCxx20(void);
const char* Headers12AsC89(void);
const char* Headers12AsGnu11(void);
const char* Headers12AsCxx11(void);
const char* Headers12AsCxx20(void);
}

int main() {
  for (const char* text :
       {HeadersAsC89(), HeadersAsC99(), HeadersAsGnu11(), HeadersAsCxx11(), HeadersAsCxx20(),
        Headers12AsC89(), Headers12AsGnu11(), Headers12AsCxx11(), Headers12AsCxx20()}) {
    if (text == nullptr || *text == '\0') {
      std::printf("FAILED: a unit has no text\n");
      return 1;
    }
  }
  std::printf("headers used as C89, C99, GNU C11, C++11 and C++20\n");
  return 0;
}
