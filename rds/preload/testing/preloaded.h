// SPDX-License-Identifier: BSD-3-Clause
// A test program under the preload.
#ifndef SOFTDAT_RDS_PRELOAD_TESTING_PRELOADED_H_
#define SOFTDAT_RDS_PRELOAD_TESTING_PRELOADED_H_

#include <string>

#include "rds/preload/testing/fake_librds.h"

namespace softdat::rds::testing {

// Runs this program again with librds_preload.so in LD_PRELOAD, and early.so behind it, and in that
// second life its tests. `librds`: the folder in which the preload finds librds.so, in the tree of
// this test.
int RunPreloaded(int argc, char** argv, const std::string& librds);

// The loaded fake, or nullptr.
FakeLibrds* LoadedFake();

// Whether a library is in the memory of this process.
bool IsLoaded(const std::string& library);

}  // namespace softdat::rds::testing

#endif  // SOFTDAT_RDS_PRELOAD_TESTING_PRELOADED_H_
