// SPDX-License-Identifier: BSD-3-Clause
// The actions of the table (function x return code). Each action makes one call return one code.
// The table itself is return_codes.inc.
#ifndef SOFTDAT_TESTS_CONFORMANCE_RETURN_CELLS_H_
#define SOFTDAT_TESTS_CONFORMANCE_RETURN_CELLS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dat2/dat_ib_extensions.h"
#include "tests/conformance/fixture.h"

namespace softdat::conformance {

// The surroundings of a cell's action: two sides of the IA, and the objects that the action makes
// of them. Everything that World makes goes before the sides do.
class World : public PairTest {
 public:
  using PairTest::a_;
  using PairTest::address;
  using PairTest::b_;
  using PairTest::Connect;
  using PairTest::FreeQualifier;
  using PairTest::Join;
  using PairTest::Listen;
  using PairTest::NextRequest;

  Side& a() { return *a_; }
  Side& b() { return *b_; }
  DAT_EP_HANDLE ep() { return a_->ep; }
  // Memory of side a. The first call makes it.
  Buffer& memory();
  // A pair of connected EPs, and memory of the peer.
  void Connected();
  Buffer& target();
  // A connection request to side b from a's EP.
  DAT_CR_HANDLE Request();
  DAT_PSP_HANDLE Psp();
  DAT_RSP_HANDLE Rsp();
  DAT_CSP_HANDLE Csp();
  DAT_SRQ_HANDLE Srq();
  DAT_EP_HANDLE SrqEp();
  DAT_RMR_HANDLE Rmr();
  DAT_CNO_HANDLE Cno();
  DAT_PZ_HANDLE OtherPz();
  // An EP without EVDs and PZ.
  DAT_EP_HANDLE BareEp();
  // An EVD of side a for the test's own use.
  DAT_EVD_HANDLE Evd(DAT_EVD_FLAGS flags = DAT_EVD_SOFTWARE_FLAG, DAT_COUNT qlen = 8);
  // A loopback address with this port, for common service points.
  DAT_IA_ADDRESS_PTR SocketAddress(uint16_t port);
  DAT_RETURN Bind(DAT_LMR_TRIPLET triplet, DAT_RMR_HANDLE rmr, DAT_EP_HANDLE ep,
                  DAT_MEM_PRIV_FLAGS rights = DAT_MEM_PRIV_REMOTE_READ_FLAG,
                  DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG);

  // What `call` returns for every handle that is not of the wanted kind: NULL (unless it is
  // allowed), junk, a handle of another kind, and a freed one. All results must be equal.
  DAT_RETURN EachBad(const std::function<DAT_RETURN(DAT_HANDLE)>& call, bool null_is_bad = true);
  DAT_RETURN EachBadIa(const std::function<DAT_RETURN(DAT_HANDLE)>& call);
  // What `call` returns while a thread waits on `evd`.
  DAT_RETURN WhileWaiting(DAT_EVD_HANDLE evd, const std::function<DAT_RETURN()>& call);
  // What `call` returns in a thread that is signalled while it blocks.
  DAT_RETURN Interrupted(const std::function<DAT_RETURN()>& call);
  // The first result of `call` that is not a success.
  DAT_RETURN FirstFailure(const std::function<DAT_RETURN()>& call, int at_most = 100000);
  // `undo` runs when the test is over, before anything that exists now goes.
  void Later(std::function<void()> undo) { undo_.push_back(std::move(undo)); }

 protected:
  void TearDown() override;

 private:
  std::vector<std::function<void()>> undo_;
  std::unique_ptr<Buffer> memory_, target_;
  sockaddr_storage socket_address_{};
};

struct ReturnCell {
  std::string function;
  DAT_UINT32 type;
  DAT_UINT32 subtype;
  bool operator==(const ReturnCell&) const = default;
};

struct ReturnAction {
  ReturnAction(const ReturnCell& of, DAT_RETURN (*action)(World&));
  ReturnCell cell;
  DAT_RETURN (*run)(World&);
};

const std::vector<ReturnAction>& AllReturnActions();

}  // namespace softdat::conformance

// Defines the action of the cell (function, DAT_type, DAT_subtype).
#define ACTION(function, type, subtype)                                        \
  static DAT_RETURN function##_##type##_##subtype(World&);                     \
  static const ReturnAction function##_##type##_##subtype##_action{            \
      {#function, DAT_##type, DAT_##subtype}, &function##_##type##_##subtype}; \
  static DAT_RETURN function##_##type##_##subtype([[maybe_unused]] World& w)

#endif  // SOFTDAT_TESTS_CONFORMANCE_RETURN_CELLS_H_
