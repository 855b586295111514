// SPDX-License-Identifier: BSD-3-Clause
// Another program listens on the port to which a connection qualifier leads.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

TEST(ForeignListenerTest, TheQualifierIsInUseUntilThatProgramGoes) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(fd, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  socklen_t length = sizeof address;
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length), 0);

  Ia ia;
  const DAT_CONN_QUAL qualifier = ntohs(address.sin_port);
  const DAT_EVD_HANDLE cr_evd = ia.NewEvd(DAT_EVD_CR_FLAG, 8);
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  EXPECT_DAT_TYPE(dat_psp_create(ia.handle(), qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp),
                  DAT_CONN_QUAL_IN_USE);
  EXPECT_EQ(psp, DAT_HANDLE_NULL);
  close(fd);
  ASSERT_DAT_OK(dat_psp_create(ia.handle(), qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  EXPECT_DAT_OK(dat_psp_free(psp));
  EXPECT_DAT_OK(dat_evd_free(cr_evd));
}

}  // namespace
}  // namespace softdat::field
