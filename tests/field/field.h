// SPDX-License-Identifier: BSD-3-Clause
// What the field tests share: an open IA, connected endpoints, registered memory, events with a
// bound. Only the public uDAPL 2.0 calls are used. The IA is $SOFTDAT_TEST_IA.
#ifndef SOFTDAT_TESTS_FIELD_FIELD_H_
#define SOFTDAT_TESTS_FIELD_FIELD_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dat2/udat.h"

namespace softdat::field {

// Reaching it means that something was lost; never part of a passing test.
inline constexpr DAT_TIMEOUT kPatienceUs = 30'000'000;

std::string IaName();
// "DAT_INVALID_STATE DAT_INVALID_STATE_EP_CONNECTED", for failure messages.
std::string Text(DAT_RETURN ret);

#define EXPECT_DAT_OK(call)                                                 \
  do {                                                                      \
    const DAT_RETURN field_ret = (call);                                    \
    EXPECT_EQ(field_ret, DAT_SUCCESS) << ::softdat::field::Text(field_ret); \
  } while (0)
#define ASSERT_DAT_OK(call)                                                 \
  do {                                                                      \
    const DAT_RETURN field_ret = (call);                                    \
    ASSERT_EQ(field_ret, DAT_SUCCESS) << ::softdat::field::Text(field_ret); \
  } while (0)
#define EXPECT_DAT_TYPE(call, type)                                                            \
  do {                                                                                         \
    const DAT_RETURN field_ret = (call);                                                       \
    EXPECT_EQ(DAT_GET_TYPE(field_ret), DAT_RETURN{type}) << ::softdat::field::Text(field_ret); \
  } while (0)

DAT_DTO_COOKIE Cookie(uint64_t value);

// An open IA with one PZ; closed abruptly at the end unless Close() did it before.
class Ia {
 public:
  Ia();
  ~Ia();
  Ia(const Ia&) = delete;
  Ia& operator=(const Ia&) = delete;

  DAT_IA_HANDLE handle() const { return handle_; }
  DAT_EVD_HANDLE async_evd() const { return async_evd_; }
  DAT_PZ_HANDLE pz() const { return pz_; }
  DAT_IA_ADDRESS_PTR address() const { return address_; }
  DAT_RETURN Close(DAT_CLOSE_FLAGS flags);
  // Somebody else closed it.
  void Forget() { handle_ = DAT_HANDLE_NULL; }

  DAT_EVD_HANDLE NewEvd(int flags, DAT_COUNT qlen = 64, DAT_CNO_HANDLE cno = DAT_HANDLE_NULL) const;

 private:
  DAT_IA_HANDLE handle_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd_ = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz_ = DAT_HANDLE_NULL;
  DAT_IA_ADDRESS_PTR address_ = nullptr;
};

// Registered memory, zeroed.
class Memory {
 public:
  Memory(const Ia& ia, size_t size);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  DAT_LMR_HANDLE handle() const { return lmr_; }
  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  DAT_LMR_TRIPLET Local(size_t offset, size_t length) const;
  DAT_RMR_TRIPLET Remote(size_t offset, size_t length) const;
  // Frees the LMR; the memory stays.
  DAT_RETURN Deregister() { return dat_lmr_free(std::exchange(lmr_, DAT_HANDLE_NULL)); }
  // The LMR went with its IA.
  void Forget() { lmr_ = DAT_HANDLE_NULL; }

 private:
  uint8_t* data_ = nullptr;
  size_t size_;
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
};

// Waits for one event; a test failure when none comes.
bool Await(DAT_EVD_HANDLE evd, DAT_EVENT* event, DAT_TIMEOUT timeout_us = kPatienceUs);
// The next event is of this kind.
bool Expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT* event = nullptr);
// The next event is a successful DTO completion; answers with its cookie.
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
  // Frees what is left of it.
  ~End();
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  const Ia& ia() const { return ia_; }
  DAT_EP_STATE state() const;
  // The IA was closed abruptly.
  void Forget();

  DAT_EVD_HANDLE recv_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE request_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connect_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE cr_evd = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;

 private:
  const Ia& ia_;
};

DAT_RETURN PostSend(DAT_EP_HANDLE ep, const DAT_LMR_TRIPLET& segment, uint64_t cookie,
                    DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG);
DAT_RETURN PostReceive(DAT_EP_HANDLE ep, const DAT_LMR_TRIPLET& segment, uint64_t cookie);
DAT_RETURN PostWrite(DAT_EP_HANDLE ep, const DAT_LMR_TRIPLET& segment,
                     const DAT_RMR_TRIPLET& remote, uint64_t cookie,
                     DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG);
DAT_RETURN PostRead(DAT_EP_HANDLE ep, const DAT_LMR_TRIPLET& segment, const DAT_RMR_TRIPLET& remote,
                    uint64_t cookie);

// Starts connecting `active` to a service point at `address`.
DAT_RETURN StartConnect(DAT_EP_HANDLE active, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qualifier,
                        DAT_TIMEOUT timeout_us = kPatienceUs);
// Accepts the next request on `cr_evd` with `ep`.
bool AcceptNext(DAT_EVD_HANDLE cr_evd, DAT_EP_HANDLE ep);
// Joins two ends through a PSP on a qualifier that the provider chooses.
bool Join(End& active, End& passive);
// One IA with one connection: afterwards the process has what libraries keep for good, such as the
// pipe that libuv has for its signals.
void WarmUp();
// A software event that carries a number, and the number again.
DAT_RETURN PostNumber(DAT_EVD_HANDLE evd, uint64_t number);
uint64_t NumberOf(const DAT_EVENT& event);

}  // namespace softdat::field

#endif  // SOFTDAT_TESTS_FIELD_FIELD_H_
