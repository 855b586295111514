// SPDX-License-Identifier: BSD-3-Clause
// A forked child's use of inherited handles is an error, and its exit does not disturb the parent
// (semantics 14).
#include <sys/wait.h>
#include <unistd.h>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class ForkTest : public ConnectedTest {};
CONFORMANCE_FAMILIES(ForkTest);

// covers: semantics 14
TEST_P(ForkTest, TheChildsCallsFailAndTheParentGoesOn) {
  const auto from = a_->MakeBuffer(8, 0x42), to = b_->MakeBuffer(8);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // No assertions here. The exit status names the first call that did not refuse its handle. Most
    // of these calls would fail for another reason in the parent.
    const auto refused = [](DAT_RETURN ret) {
      return DAT_GET_TYPE(ret) == DAT_RETURN{DAT_INVALID_HANDLE};
    };
    DAT_EVENT event{};
    DAT_COUNT nmore = 0;
    DAT_HANDLE made = DAT_HANDLE_NULL;
    DAT_EP_STATE state{};
    DAT_CONN_QUAL qualifier = 0;
    int n = 1;
    if (!refused(dat_evd_wait(a_->connect_evd, 0, 1, &event, &nmore))) _exit(n);
    if (++n; !refused(PostSend(a_->ep, {}, 1))) _exit(n);
    if (++n; !refused(PostRecv(b_->ep, {}, 1))) _exit(n);
    if (++n; !refused(dat_ep_get_status(a_->ep, &state, nullptr, nullptr))) _exit(n);
    if (++n; !refused(dat_ep_disconnect(a_->ep, DAT_CLOSE_ABRUPT_FLAG))) _exit(n);
    if (++n; !refused(dat_pz_create(a_->ia, &made))) _exit(n);
    if (++n;
        !refused(dat_psp_create_any(b_->ia, &qualifier, b_->cr_evd, DAT_PSP_CONSUMER_FLAG, &made)))
      _exit(n);
    if (++n; !refused(dat_ep_free(a_->ep))) _exit(n);
    if (++n; !refused(dat_ia_close(a_->ia, DAT_CLOSE_GRACEFUL_FLAG))) _exit(n);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "the child was killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "this call of the child did not refuse its handle";
  // The connection has stayed as it was.
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_CONNECTED);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 2));
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(to->data()[7], 0x42);
}

}  // namespace
}  // namespace softdat::conformance
