// SPDX-License-Identifier: BSD-3-Clause
// Code that the field tests share: dat/client with the expectations of GoogleTest, and connected
// endpoints. Only the public uDAPL 2.0 calls are used. The IA is $SOFTDAT_TEST_IA.
#ifndef SOFTDAT_TESTS_FIELD_FIELD_H_
#define SOFTDAT_TESTS_FIELD_FIELD_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "dat/client/endpoint.h"
#include "dat/client/events.h"
#include "dat/client/ia.h"
#include "dat/client/memory.h"
#include "dat/client/post.h"
#include "dat/client/result.h"
#include "dat2/udat.h"

namespace softdat::field {

// A wait that takes this long has lost something. No passing test takes it.
inline constexpr DAT_TIMEOUT kPatienceUs = 30'000'000;

std::string IaName();
// "DAT_INVALID_STATE DAT_INVALID_STATE_EP_CONNECTED (0x80070033)", for failure messages.
inline std::string Text(DAT_RETURN ret) { return client::DescribeReturn(ret); }

#define EXPECT_DAT_OK(call)                                                                    \
  do {                                                                                         \
    const DAT_RETURN field_ret = (call);                                                       \
    EXPECT_EQ(field_ret, DAT_SUCCESS) << ::softdat::client::DescribeFailure(#call, field_ret); \
  } while (0)
#define ASSERT_DAT_OK(call)                                                                    \
  do {                                                                                         \
    const DAT_RETURN field_ret = (call);                                                       \
    ASSERT_EQ(field_ret, DAT_SUCCESS) << ::softdat::client::DescribeFailure(#call, field_ret); \
  } while (0)
#define EXPECT_DAT_TYPE(call, type)                                                            \
  do {                                                                                         \
    const DAT_RETURN field_ret = (call);                                                       \
    EXPECT_EQ(DAT_GET_TYPE(field_ret), DAT_RETURN{type}) << ::softdat::field::Text(field_ret); \
  } while (0)

using client::Cookie;
using client::PostRead;
using client::PostReceive;
using client::PostSend;
using client::PostWrite;

// An open IA with one PZ. The destructor closes it abruptly unless Close() did it before.
class Ia : public client::Ia {
 public:
  Ia();
  ~Ia() { EXPECT_DAT_OK(client::Ia::Close()); }

  const client::Pz& pz() const { return pz_; }
  client::Result Close(DAT_CLOSE_FLAGS flags);
  // The EVD lives as long as the IA.
  DAT_EVD_HANDLE NewEvd(int flags, DAT_COUNT qlen = 64, DAT_CNO_HANDLE cno = DAT_HANDLE_NULL) const;

 private:
  client::Pz pz_;
};

// Registered memory, filled with zeros.
class Memory : public client::Memory {
 public:
  Memory(const Ia& ia, size_t size);
  ~Memory() { EXPECT_DAT_OK(Deregister()); }
};

// Waits for one event. It is a test failure if none comes.
bool Await(DAT_EVD_HANDLE evd, DAT_EVENT* event, DAT_TIMEOUT timeout_us = kPatienceUs);
// Expects that the next event is of this kind.
bool Expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT* event = nullptr);
// Expects that the next event is a successful DTO completion with this cookie and length.
bool ExpectDto(DAT_EVD_HANDLE evd, uint64_t cookie, uint64_t length);

// An EP with EVDs of its own.
class End {
 public:
  struct Options {
    const DAT_EP_ATTR* attr = nullptr;
    DAT_COUNT dto_qlen = 256;
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  };
  explicit End(const Ia& ia) : End(ia, Options{}) {}
  End(const Ia& ia, const Options& options);
  // Frees everything of it that is left.
  ~End();
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  const Ia& ia() const { return ia_; }
  client::EpEvds evds() const { return {recv_evd, request_evd, connect_evd}; }
  DAT_EP_STATE state() const;

  client::Evd recv_evd;
  client::Evd request_evd;
  client::Evd connect_evd;
  client::Evd cr_evd;
  client::Ep ep;

 private:
  const Ia& ia_;
};

// Starts connecting `active` to a service point at `address`.
inline client::Result StartConnect(DAT_EP_HANDLE active, DAT_IA_ADDRESS_PTR address,
                                   DAT_CONN_QUAL qualifier, DAT_TIMEOUT timeout_us = kPatienceUs) {
  return client::Connect(active, address, qualifier, timeout_us);
}
// Accepts the next request on `cr_evd` with `ep`.
bool AcceptNext(DAT_EVD_HANDLE cr_evd, DAT_EP_HANDLE ep);
// A qualifier where nobody listens, and no other process will (own_qualifier.h).
DAT_CONN_QUAL FreeQualifier(const Ia& ia);
// The same above 65535. The one that is 31744 higher is on the same port.
DAT_CONN_QUAL FreeLargeQualifier(const Ia& ia);
// Joins two ends through a PSP on a qualifier that the provider chooses.
bool Join(End& active, End& passive);
// Opens one IA with one connection. Afterwards the process has everything that libraries keep for
// good, such as the pipe that libuv has for its signals.
void WarmUp();
// Posts a software event that carries a number, and reads the number of an event.
DAT_RETURN PostNumber(DAT_EVD_HANDLE evd, uint64_t number);
uint64_t NumberOf(const DAT_EVENT& event);

}  // namespace softdat::field

#endif  // SOFTDAT_TESTS_FIELD_FIELD_H_
