// SPDX-License-Identifier: BSD-3-Clause
// Each scenario of the registry needs a process of its own, because libdat2 reads its environment
// and dat.conf once.
#ifndef SOFTDAT_DAT_REGISTRY_TESTING_CHILD_H_
#define SOFTDAT_DAT_REGISTRY_TESTING_CHILD_H_

#include <dat2/udat.h>

#include <functional>
#include <string>

#include "dat/registry/testing/fake_provider.h"

namespace softdat::registry::testing {

// The environment of a scenario. DAT_OVERRIDE names a file with the text `conf`, unless the other
// members say otherwise.
struct Scenario {
  std::string conf;           // text of dat.conf
  std::string override_path;  // this path itself instead
  bool set_override = true;
  std::string provider_path;  // SOFTDAT_PROVIDER_PATH
};

// Runs `body` in a forked child with that environment. Fails the test if an expectation in the
// child fails or the child does not come back. The parent never calls libdat2, so the child starts
// fresh.
void InChild(const Scenario& scenario, const std::function<void(FakeControl*)>& body);

// The absolute path of a test library, such as "libdaplfake.so.2".
std::string LibraryPath(const std::string& name);

// A line of dat.conf for a library of these tests.
std::string ConfLine(const std::string& ia_name, const std::string& library,
                     const std::string& version = "u2.0",
                     const std::string& thread_safety = "nonthreadsafe",
                     const std::string& ia_params = "");

// dat_ia_open with a queue length of 8; the handle is nullptr on failure.
DAT_RETURN Open(const std::string& name, DAT_IA_HANDLE* ia);

// softdat_last_reason as a string.
std::string LastReason();

// A fresh folder for files of this test.
std::string TempFolder();

}  // namespace softdat::registry::testing

#endif  // SOFTDAT_DAT_REGISTRY_TESTING_CHILD_H_
