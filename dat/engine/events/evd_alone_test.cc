// SPDX-License-Identifier: BSD-3-Clause
// What an EVD tells those above it, who are stand-ins here: what a discarded event announced, and
// an IA that has nothing but EVDs and CNOs.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "dat/engine/events/cno.h"
#include "dat/engine/events/evd.h"
#include "dat/engine/events/evd_dequeue.h"
#include "dat/engine/object/ia_core.h"
#include "dat/engine/testing/fake_backend.h"
#include "dat2/dat_registry.h"
#include "dat2/softdat.h"

// No registry knows the IA.
extern "C" DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE, DAT_IA_HANDLE*) {
  return DAT_CLASS_ERROR | DAT_INVALID_HANDLE;
}

namespace softdat::engine {
namespace {

using testing::FakeAdapter;
using testing::TheFakeBackend;

const DAT_PROVIDER kTable{};
const std::string kName = "fake-0";

class BareIa final : public IaCore {
 public:
  BareIa() : IaCore(kTable, kName) {
    SetAdapter(std::make_unique<FakeAdapter>(TheFakeBackend().attributes, nullptr));
  }
  void PostAsync(DAT_EVENT_NUMBER number, DAT_HANDLE object, DAT_COUNT) override {
    EXPECT_EQ(number, DAT_ASYNC_ERROR_EVD_OVERFLOW);
    overflowed.push_back(object);
  }

  std::vector<DAT_HANDLE> overflowed;

 private:
  void Teardown() override {
    for (const DAT_HANDLE_TYPE type :
         {DAT_HANDLE_TYPE_CR, DAT_HANDLE_TYPE_EVD, DAT_HANDLE_TYPE_CNO})
      objects().DestroyAll(type);
    CloseAdapter();
  }
};

// What an event announces: a request that counts how often it is told that nobody saw it.
class Request final : public Object {
 public:
  Request(IaCore* owner, int* unseen) : Object(owner, DAT_HANDLE_TYPE_CR), unseen_(unseen) {}
  void OnUnseen() override {
    ++*unseen_;
    if (Retire()) Destroy(1);
  }

 private:
  void Teardown() override {}
  int* const unseen_;
};

class EvdAloneTest : public ::testing::Test {
 protected:
  EvdAloneTest() { EXPECT_TRUE(ia_->Publish()); }
  ~EvdAloneTest() override {
    EXPECT_TRUE(ia_->RetireAnyway());
    ia_->Destroy(0);
  }

  Evd* Make(DAT_EVD_FLAGS flags, DAT_COUNT qlen, Cno* cno = nullptr) {
    Evd* evd = nullptr;
    EXPECT_EQ(Evd::Create(ia_.get(), qlen, cno, flags, &evd), DAT_SUCCESS);
    return evd;
  }
  // As a call of the consumer's, which pins the EVD.
  static DAT_RETURN Free(Evd* evd) {
    const Pinned<Evd> pinned(evd->handle());
    return pinned->Free();
  }
  // A request, and the event that announces it.
  Request* Announce(Evd* evd, int* unseen) {
    auto* const request = new Request(ia_.get(), unseen);
    EXPECT_TRUE(request->Publish());
    DAT_EVENT event{};
    event.event_number = DAT_CONNECTION_REQUEST_EVENT;
    event.event_data.cr_arrival_event_data.cr_handle = request->handle();
    EXPECT_TRUE(evd->TryPush(event));
    return request;
  }
  static DAT_EVENT SoftwareEvent() {
    DAT_EVENT event{};
    event.event_number = DAT_SOFTWARE_EVENT;
    return event;
  }

  const Ref<BareIa> ia_{new BareIa};
};

TEST_F(EvdAloneTest, WhatNobodySawIsToldAndNothingElse) {
  Evd* const evd =
      Make(static_cast<DAT_EVD_FLAGS>(int{DAT_EVD_CR_FLAG} | int{DAT_EVD_SOFTWARE_FLAG}), 8);
  int seen = 0;
  int gone = 0;
  int unseen = 0;
  Announce(evd, &seen);
  Request* const early = Announce(evd, &gone);
  EXPECT_EQ(evd->PostSoftwareEvent(SoftwareEvent()), DAT_SUCCESS);
  const DAT_HANDLE handle = Announce(evd, &unseen)->handle();
  DAT_EVENT event;
  EXPECT_EQ(Evd::Dequeue(evd->handle(), &event), DAT_SUCCESS);
  ASSERT_TRUE(early->Retire());
  early->Destroy(0);
  EXPECT_EQ(unseen, 0);
  EXPECT_EQ(Free(evd), DAT_SUCCESS);
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(gone, 0);
  EXPECT_EQ(unseen, 1);
  EXPECT_FALSE(AnyPinned(handle)) << "the request went when it was told";
}

TEST_F(EvdAloneTest, AnOverflowIsReportedOnceUntilThereIsRoomAgain) {
  Evd* const evd = Make(DAT_EVD_SOFTWARE_FLAG, 1);
  DAT_EVENT event;
  for (size_t round = 1; round <= 2; ++round) {
    for (int i = 0; i < 3; ++i) evd->Push(SoftwareEvent());
    EXPECT_EQ(ia_->overflowed, std::vector<DAT_HANDLE>(round, evd->handle()));
    EXPECT_EQ(Evd::Dequeue(evd->handle(), &event), DAT_SUCCESS);
  }
}

TEST_F(EvdAloneTest, ItsCnoNamesIt) {
  Cno* const cno = new Cno(ia_.get(), Cno::Kind::kAgent, DAT_OS_WAIT_PROXY_AGENT_NULL, {});
  ASSERT_TRUE(cno->Publish());
  Evd* const evd = Make(DAT_EVD_SOFTWARE_FLAG, 1, cno);
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  EXPECT_NE(cno->Collect(&hint), DAT_SUCCESS);
  EXPECT_EQ(evd->PostSoftwareEvent(SoftwareEvent()), DAT_SUCCESS);
  EXPECT_EQ(cno->Collect(&hint), DAT_SUCCESS);
  EXPECT_EQ(hint, evd->handle());
}

}  // namespace
}  // namespace softdat::engine
