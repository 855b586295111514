// SPDX-License-Identifier: BSD-3-Clause
// Connection qualifiers as programs choose them: process ids, addresses of variables, hashes. They
// are 64 bits wide, whatever the size of the transport's ports (semantics 9.1).
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

// Qualifiers made from a number that differs from call to call.
using Choose = std::function<std::vector<DAT_CONN_QUAL>(uint64_t salt)>;

struct Listening {
  std::vector<DAT_CONN_QUAL> qualifiers;
  std::map<DAT_CONN_QUAL, DAT_PSP_HANDLE> psps;
};

// Service points on qualifiers that are free, as far as transport ports and the other programs of
// this host allow.
Listening ListenOn(const Ia& ia, DAT_EVD_HANDLE cr_evd, const Choose& choose) {
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    Listening made;
    made.qualifiers = choose(random() % 60'000);
    DAT_RETURN ret = DAT_SUCCESS;
    for (const DAT_CONN_QUAL qualifier : made.qualifiers) {
      DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
      ret = dat_psp_create(ia.handle(), qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp);
      if (ret != DAT_SUCCESS) break;
      made.psps[qualifier] = psp;
    }
    if (ret == DAT_SUCCESS) return made;
    EXPECT_EQ(DAT_GET_TYPE(ret), DAT_RETURN{DAT_CONN_QUAL_IN_USE}) << Text(ret);
    for (const auto& [qualifier, psp] : made.psps) EXPECT_DAT_OK(dat_psp_free(psp));
  }
  ADD_FAILURE() << "a hundred times in use";
  return {};
}

// Connects to each qualifier in turn and checks that the request arrived at its own service point.
void ConnectToEach(const Ia& ia, const Choose& choose) {
  const DAT_EVD_HANDLE cr_evd = ia.NewEvd(DAT_EVD_CR_FLAG);
  const Listening made = ListenOn(ia, cr_evd, choose);
  const auto& [qualifiers, psps] = made;
  for (const DAT_CONN_QUAL qualifier : qualifiers) {
    SCOPED_TRACE("qualifier " + std::to_string(qualifier));
    End active(ia);
    End passive(ia);
    ASSERT_DAT_OK(StartConnect(active.ep, ia.address(), qualifier));
    DAT_EVENT event{};
    ASSERT_TRUE(Expect(cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event));
    const DAT_CR_ARRIVAL_EVENT_DATA& request = event.event_data.cr_arrival_event_data;
    EXPECT_EQ(request.conn_qual, qualifier);
    EXPECT_EQ(request.sp_handle.psp_handle, made.psps.at(qualifier));
    ASSERT_DAT_OK(dat_cr_accept(request.cr_handle, passive.ep, 0, nullptr));
    EXPECT_TRUE(Expect(active.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
    EXPECT_TRUE(Expect(passive.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  }
  for (const auto& [qualifier, psp] : psps) EXPECT_DAT_OK(dat_psp_free(psp));
  EXPECT_DAT_OK(dat_evd_free(cr_evd));
}

// covers: semantics 9.1
TEST(LargeQualifierTest, ProcessIds) {
  Ia ia;
  const auto pid = static_cast<DAT_CONN_QUAL>(getpid());
  // Launchers add up a base, a job number, and the process ids of the ranks.
  ConnectToEach(ia, [pid](uint64_t job) {
    return std::vector<DAT_CONN_QUAL>{65536 + job + pid, pid * 65536 + 70000 + job,
                                      pid * 65536 + 70001 + job, (pid << 32) + job,
                                      0x0AFFAB1E + job};
  });
}

// covers: semantics 9.1
TEST(LargeQualifierTest, AllSixtyFourBits) {
  Ia ia;
  ConnectToEach(ia, [](uint64_t salt) {
    return std::vector<DAT_CONN_QUAL>{UINT64_MAX - salt, UINT64_MAX - salt - 1,
                                      (uint64_t{1} << 63) + salt, (uint64_t{1} << 32) + salt,
                                      (uint64_t{1} << 32) + salt + 1};
  });
}

// Several qualifiers fold to the same 16 bits, whichever way they are folded. They share a port,
// and their full values distinguish them.
// covers: semantics 9.1
TEST(LargeQualifierTest, SeveralThatFoldToOnePort) {
  Ia ia;
  for (const DAT_CONN_QUAL modulus : {65536, 65535, 31744, 31743}) {
    ConnectToEach(ia, [modulus](uint64_t salt) {
      const DAT_CONN_QUAL base = (uint64_t{0xC0FFEE} << 24) + salt;
      return std::vector<DAT_CONN_QUAL>{base, base + modulus, base + 2 * modulus,
                                        base + 1000 * modulus};
    });
  }
}

// covers: semantics 9.1
TEST(LargeQualifierTest, EqualHalves) {
  Ia ia;
  // The sums, differences and exclusive-ors of the halves are equal.
  ConnectToEach(ia, [](uint64_t salt) {
    const auto join = [](uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
      return a << 48 | b << 32 | c << 16 | d;
    };
    return std::vector<DAT_CONN_QUAL>{join(1, 2, 3, salt), join(salt, 3, 2, 1), join(2, 1, salt, 3),
                                      join(3, salt, 1, 2)};
  });
}

std::vector<DAT_CONN_QUAL> JustOne(uint64_t salt) { return {(uint64_t{0xBEEF} << 24) + salt}; }

// Nobody listens on a neighbouring qualifier, nor on one with the same low bits. A request is
// refused, not misdelivered.
// covers: semantics 9.1
TEST(LargeQualifierTest, ANeighbourIsRefused) {
  Ia ia;
  End active(ia);
  const DAT_EVD_HANDLE cr_evd = ia.NewEvd(DAT_EVD_CR_FLAG);
  const Listening made = ListenOn(ia, cr_evd, JustOne);
  ASSERT_EQ(made.qualifiers.size(), 1u);
  const DAT_CONN_QUAL qualifier = made.qualifiers[0];
  // The last one shares the port.
  for (const DAT_CONN_QUAL distance : {uint64_t{65536}, uint64_t{1} << 32, uint64_t{31744}}) {
    ASSERT_DAT_OK(StartConnect(active.ep, ia.address(), qualifier + distance));
    EXPECT_TRUE(Expect(active.connect_evd, DAT_CONNECTION_EVENT_NON_PEER_REJECTED));
    ASSERT_DAT_OK(dat_ep_reset(active.ep));
  }
  DAT_EVENT event{};
  EXPECT_DAT_TYPE(dat_evd_dequeue(cr_evd, &event), DAT_QUEUE_EMPTY);
  EXPECT_DAT_OK(dat_psp_free(made.psps.at(qualifier)));
  EXPECT_DAT_OK(dat_evd_free(cr_evd));
}

// covers: semantics 9.1
TEST(LargeQualifierTest, TakenTwice) {
  Ia ia;
  const DAT_EVD_HANDLE cr_evd = ia.NewEvd(DAT_EVD_CR_FLAG);
  const Listening made = ListenOn(ia, cr_evd, JustOne);
  ASSERT_EQ(made.qualifiers.size(), 1u);
  const DAT_CONN_QUAL qualifier = made.qualifiers[0];
  DAT_PSP_HANDLE second = DAT_HANDLE_NULL;
  EXPECT_DAT_TYPE(dat_psp_create(ia.handle(), qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &second),
                  DAT_CONN_QUAL_IN_USE);
  EXPECT_DAT_OK(dat_psp_free(made.psps.at(qualifier)));
  ASSERT_DAT_OK(dat_psp_create(ia.handle(), qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &second));
  EXPECT_DAT_OK(dat_psp_free(second));
  EXPECT_DAT_OK(dat_evd_free(cr_evd));
}

}  // namespace
}  // namespace softdat::field
