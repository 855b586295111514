// SPDX-License-Identifier: BSD-3-Clause
// Counts the user-space instructions of an operation by single steps. This needs no performance
// counters, which virtual machines seldom have, and two runs give the same number.
#ifndef SOFTDAT_TESTS_NULLDEVICE_STEP_COUNTER_H_
#define SOFTDAT_TESTS_NULLDEVICE_STEP_COUNTER_H_

#include <string>

namespace softdat::nulldevice {

struct Count {
  double per_operation = 0;
  double in_libdat2 = 0;  // the part of these that libdat2 itself executes
  std::string failure;    // why there is no number; empty when there is one
};

// The program that runs.
struct Subject {
  std::string ia;               // a name in dat_conf; "-": the verbs themselves
  std::string dat_conf = "";    // the text of a dat.conf
  bool is_12 = false;           // a program of uDAPL 1.2
  bool reaps = true;            // takes the completion of each post
  bool debian_libdat2 = false;  // Debian's libdat2 in the place of ours
};

// Instructions of the calling thread for one post and its completion, or for one post.
Count CountInstructions(const Subject& subject);

// The lines of a dat.conf: for our provider, and for OFA's of the package libdapl2. The IAs are
// "ours" and "ofa".
std::string OurLine();
std::string OfaLine();

}  // namespace softdat::nulldevice

#endif  // SOFTDAT_TESTS_NULLDEVICE_STEP_COUNTER_H_
