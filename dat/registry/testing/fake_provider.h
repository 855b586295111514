// SPDX-License-Identifier: BSD-3-Clause
// A provider for tests of the registry: a shared library that counts what is done to it. It finds
// its controls by an address in the environment, so that they outlive its unloading.
#ifndef SOFTDAT_DAT_REGISTRY_TESTING_FAKE_PROVIDER_H_
#define SOFTDAT_DAT_REGISTRY_TESTING_FAKE_PROVIDER_H_

#include <dat2/udat.h>

#include <atomic>

namespace softdat::registry::testing {

inline constexpr char kControlVariable[] = "FAKE_PROVIDER_CONTROL";  // "0x7f..."

struct FakeControl {
  // Counters.
  std::atomic<int> inits{0};
  std::atomic<int> finis{0};
  std::atomic<int> unloads{0};  // destructor of the library
  std::atomic<int> opens{0};
  std::atomic<int> closes{0};
  std::atomic<int> loaded_now{0};  // inits without fini
  std::atomic<int> max_loaded{0};
  // What the last init got.
  char ia_params[64] = {};
  char library[64] = {};  // FAKE_NAME of the library
  DAT_PROVIDER_INFO info{};
  // Behaviour.
  std::atomic<bool> register_in_init{true};
  std::atomic<bool> remove_in_fini{true};
  std::atomic<bool> open_within_init{false};
  std::atomic<DAT_RETURN> open_result{DAT_SUCCESS};
  std::atomic<DAT_RETURN> close_result{DAT_SUCCESS};
  std::atomic<DAT_RETURN> within_result{DAT_SUCCESS};  // of open_within_init
  std::atomic<bool> return_junk_ia{false};
  std::atomic<bool> fill_data_path{false};  // fills every slot of the data path
  std::atomic<bool> hold_related{false};    // holds back the answer to the HA question
  std::atomic<int> inside_related{0};
  // What the last extended operation got.
  DAT_HANDLE extension_handle = nullptr;
  int extension_op = 0;
  long extension_argument = 0;
};

// What the fake returns from calls that only show that they arrived.
inline constexpr DAT_RETURN kPostSendResult = DAT_CLASS_ERROR | DAT_QUEUE_FULL;
inline constexpr DAT_RETURN kDataPathResult = DAT_CLASS_ERROR | DAT_LENGTH_ERROR;

}  // namespace softdat::registry::testing

#endif  // SOFTDAT_DAT_REGISTRY_TESTING_FAKE_PROVIDER_H_
