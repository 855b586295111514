// SPDX-License-Identifier: BSD-3-Clause
// Scenarios in child processes.
#include "dat/registry/testing/child.h"

#include <dat2/softdat.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <vector>

namespace softdat::registry::testing {
namespace {

void SetEnvironment(const Scenario& scenario, FakeControl* control) {
  char address[32];
  snprintf(address, sizeof address, "%p", static_cast<void*>(control));
  setenv(kControlVariable, address, 1);
  unsetenv("DAT_OVERRIDE");
  if (!scenario.provider_path.empty()) {
    setenv("SOFTDAT_PROVIDER_PATH", scenario.provider_path.c_str(), 1);
  }
  if (!scenario.set_override) return;
  std::string path = scenario.override_path;
  if (path.empty()) {
    path = TempFolder() + "/dat.conf";
    std::ofstream(path, std::ios::binary) << scenario.conf;
  }
  setenv("DAT_OVERRIDE", path.c_str(), 1);
}

}  // namespace

void InChild(const Scenario& scenario, const std::function<void(FakeControl*)>& body) {
  fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Never destroyed, because the provider counts its own unloading at exit.
    auto* control = new FakeControl;
    SetEnvironment(scenario, control);
    body(control);
    fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "the child died of signal " << WTERMSIG(status);
  ASSERT_EQ(WEXITSTATUS(status), 0) << "see the child's failures above";
}

std::string LibraryPath(const std::string& name) {
  char folder[4096];
  if (getcwd(folder, sizeof folder) == nullptr) return "";
  return std::string(folder) + "/dat/registry/testing/" + name;
}

std::string ConfLine(const std::string& ia_name, const std::string& library,
                     const std::string& version, const std::string& thread_safety,
                     const std::string& ia_params) {
  return ia_name + " " + version + " " + thread_safety + " default " + LibraryPath(library) +
         " fake.1.0 \"" + ia_params + "\" \"\"\n";
}

DAT_RETURN Open(const std::string& name, DAT_IA_HANDLE* ia) {
  *ia = nullptr;
  DAT_EVD_HANDLE evd = nullptr;
  std::string writable = name;
  return dat_ia_open(writable.data(), 8, &evd, ia);
}

std::string LastReason() {
  std::vector<char> text(softdat_last_reason(nullptr, 0) + 1);
  softdat_last_reason(text.data(), text.size());
  return text.data();
}

std::string TempFolder() {
  const char* base = getenv("TEST_TMPDIR");
  std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/registryXXXXXX";
  return mkdtemp(pattern.data()) != nullptr ? pattern : "";
}

}  // namespace softdat::registry::testing
