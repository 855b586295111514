// SPDX-License-Identifier: BSD-3-Clause
// Tests who frees an object, and when nobody does.
#include "dat/client/owned.h"

#include <utility>

#include "dat/client/client_test.h"
#include "dat/client/events.h"

namespace softdat::client {
namespace {

// An IA can be closed gracefully only after the owners of its objects have freed them.
TEST_F(ClientTest, TheOwnerFreesTheObject) {
  {
    Evd evd;
    ASSERT_OK(evd.Create(ia_, DAT_EVD_SOFTWARE_FLAG, 8));
    EXPECT_EQ(ia_.Close(DAT_CLOSE_GRACEFUL_FLAG).type(), DAT_RETURN{DAT_INVALID_STATE});
    EXPECT_TRUE(ia_.is_open());
  }
  EXPECT_OK(pz_.Free());
  EXPECT_OK(ia_.Close(DAT_CLOSE_GRACEFUL_FLAG));
  EXPECT_FALSE(ia_.is_open());
}

TEST_F(ClientTest, AnotherObjectInItsPlaceFreesTheFirst) {
  ASSERT_OK(pz_.Create(ia_));
  EXPECT_OK(pz_.Free());
  EXPECT_OK(ia_.Close(DAT_CLOSE_GRACEFUL_FLAG));
}

// The next object may have the same handle as one that is gone.
TEST_F(ClientTest, AClosedIaLeavesItsOwnersNothingToFree) {
  Evd evd;
  ASSERT_OK(evd.Create(ia_, DAT_EVD_SOFTWARE_FLAG, 8));
  const DAT_EVD_HANDLE gone = evd;
  EXPECT_OK(ia_.Close());
  EXPECT_EQ(DAT_GET_TYPE(dat_evd_free(gone)), DAT_RETURN{DAT_INVALID_HANDLE});
  EXPECT_OK(evd.Free());
  EXPECT_EQ(evd.get(), DAT_HANDLE_NULL);
}

TEST_F(ClientTest, AnIaThatSomebodyElseClosesCountsAsClosed) {
  EXPECT_EQ(dat_ia_close(ia_.Release(), DAT_CLOSE_ABRUPT_FLAG), DAT_RETURN{DAT_SUCCESS});
  EXPECT_OK(pz_.Free());
}

TEST_F(ClientTest, WhatCouldNotBeFreedIsStillThere) {
  Cno cno;
  Evd evd;
  ASSERT_OK(cno.Create(ia_));
  ASSERT_OK(evd.Create(ia_, DAT_EVD_SOFTWARE_FLAG, 8, cno));
  EXPECT_EQ(cno.Free().type(), DAT_RETURN{DAT_INVALID_STATE});
  EXPECT_NE(cno.get(), DAT_HANDLE_NULL);
  EXPECT_OK(evd.Free());
  EXPECT_OK(cno.Free());
}

TEST_F(ClientTest, AMoveTakesTheObjectAlong) {
  Evd first;
  ASSERT_OK(first.Create(ia_, DAT_EVD_SOFTWARE_FLAG, 8));
  const DAT_EVD_HANDLE handle = first;
  Evd second(std::move(first));
  EXPECT_EQ(second.get(), handle);
  Evd third;
  ASSERT_OK(third.Create(ia_, DAT_EVD_SOFTWARE_FLAG, 8));
  third = std::move(second);
  EXPECT_EQ(third.get(), handle);
  EXPECT_OK(third.Free());
  EXPECT_OK(pz_.Free());
  EXPECT_OK(ia_.Close(DAT_CLOSE_GRACEFUL_FLAG));
}

TEST_F(ClientTest, AMovedIaIsStillOpenForItsObjects) {
  Ia moved(std::move(ia_));
  EXPECT_FALSE(ia_.is_open());
  EXPECT_EQ(moved.name(), kToy);
  EXPECT_OK(pz_.Free());
  EXPECT_OK(moved.Close(DAT_CLOSE_GRACEFUL_FLAG));
}

TEST_F(ClientTest, AReleasedObjectIsNotFreed) {
  Evd evd;
  ASSERT_OK(evd.Create(ia_, DAT_EVD_SOFTWARE_FLAG, 8));
  const DAT_EVD_HANDLE handle = evd.Release();
  EXPECT_OK(evd.Free());
  EXPECT_EQ(dat_evd_free(handle), DAT_RETURN{DAT_SUCCESS});
}

TEST_F(ClientTest, AFailedCreationOwnsNothing) {
  Evd evd;
  EXPECT_EQ(evd.Create(ia_, DAT_EVD_SOFTWARE_FLAG, 0).type(), DAT_RETURN{DAT_INVALID_PARAMETER});
  EXPECT_EQ(evd.get(), DAT_HANDLE_NULL);
}

TEST(IaTest, OpensAnotherInItsPlace) {
  Ia ia;
  ASSERT_OK(ia.Open(kToy));
  EXPECT_NE(ia.address(), nullptr);
  EXPECT_NE(ia.async_evd(), DAT_HANDLE_NULL);
  Pz pz;
  ASSERT_OK(pz.Create(ia));
  ASSERT_OK(ia.Open(kToy));
  EXPECT_OK(pz.Free());
  EXPECT_FALSE(ia.Open("no-such-ia").ok());
  EXPECT_FALSE(ia.is_open());
}

}  // namespace
}  // namespace softdat::client
