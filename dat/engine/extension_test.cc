// SPDX-License-Identifier: BSD-3-Clause
// Extended operations (semantics 15.2), called the way a registry calls the slot.
#include <cstdarg>

#include "dat/engine/testing/engine_test.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine::testing {
namespace {

using transport::Op;

// dat_extension_op(), after the handle was looked up.
DAT_RETURN Extension(DAT_HANDLE handle, int op, ...) {
  va_list args;
  va_start(args, op);
  const DAT_RETURN ret = slots::HandleExtendedop(handle, op, args);
  va_end(args);
  return ret;
}

class ExtensionTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    ep_ = MakeEpIn(DAT_EP_STATE_CONNECTED);
    cookie_.as_64 = 0x9999;
  }
  const transport::SendRequest& sent() { return adapter().last_qp().sends.back(); }
  DAT_RETURN WriteImmediate(DAT_HANDLE ep, DAT_COUNT n, DAT_LMR_TRIPLET* local,
                            DAT_RMR_TRIPLET* remote, int flags) {
    return Extension(ep, DAT_IB_RDMA_WRITE_IMMED_OP, n, local, cookie_, remote,
                     DAT_UINT32{0xdeadbeef}, static_cast<DAT_COMPLETION_FLAGS>(flags));
  }
  DAT_RETURN FetchAdd(DAT_HANDLE ep, DAT_LMR_TRIPLET* local, DAT_RMR_TRIPLET* remote, int flags) {
    return Extension(ep, DAT_IB_FETCH_AND_ADD_OP, DAT_UINT64{0x1122334455667788}, local, cookie_,
                     remote, static_cast<DAT_COMPLETION_FLAGS>(flags));
  }
  DAT_RETURN CompareSwap(DAT_HANDLE ep, DAT_LMR_TRIPLET* local, DAT_RMR_TRIPLET* remote,
                         int flags) {
    return Extension(ep, DAT_IB_CMP_AND_SWAP_OP, DAT_UINT64{7}, DAT_UINT64{8}, local, cookie_,
                     remote, static_cast<DAT_COMPLETION_FLAGS>(flags));
  }

  DAT_EP_HANDLE ep_ = nullptr;
  DAT_LMR_TRIPLET local_{0x1000, 8, 1};
  DAT_RMR_TRIPLET remote_{0x2000, 8, 2};
};

// covers: semantics 15.2
TEST_F(ExtensionTest, WriteWithImmediate) {
  ASSERT_EQ(WriteImmediate(ep_, 1, &local_, &remote_, DAT_COMPLETION_SOLICITED_WAIT_FLAG),
            DAT_SUCCESS);
  EXPECT_EQ(sent().op, Op::kRdmaWriteImmediate);
  EXPECT_EQ(sent().key, 0xdeadbeefu);
  EXPECT_EQ(sent().cookie, 0x9999u);
  EXPECT_EQ(sent().remote.rmr_context, 2u);
  EXPECT_EQ(sent().flags, transport::kSolicited);
  EXPECT_EQ(WriteImmediate(ep_, 5, &local_, &remote_, 0), Arg(2));
  EXPECT_EQ(WriteImmediate(ep_, 1, nullptr, &remote_, 0), Arg(3));
  EXPECT_EQ(WriteImmediate(ep_, 1, &local_, nullptr, 0), Arg(5));
  EXPECT_EQ(WriteImmediate(ep_, 1, &local_, &remote_, DAT_COMPLETION_UNSIGNALLED_FLAG), Arg(7));
  EXPECT_EQ(WriteImmediate(pz_, 1, &local_, &remote_, 0),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_EQ(WriteImmediate(MakeEp(), 1, &local_, &remote_, 0),
            WrongState(DAT_EP_STATE_UNCONNECTED));
  adapter().limits.immediate = false;
  EXPECT_EQ(WriteImmediate(ep_, 1, &local_, &remote_, 0), Ret(DAT_NOT_IMPLEMENTED));
}

// covers: semantics 15.2
TEST_F(ExtensionTest, Atomics) {
  ASSERT_EQ(FetchAdd(ep_, &local_, &remote_, DAT_COMPLETION_SUPPRESS_FLAG), DAT_SUCCESS);
  EXPECT_EQ(sent().op, Op::kFetchAdd);
  EXPECT_EQ(sent().atomic.swap_or_add, 0x1122334455667788u);
  EXPECT_EQ(sent().flags, transport::kSuppress);
  ASSERT_EQ(CompareSwap(ep_, &local_, &remote_, 0), DAT_SUCCESS);
  EXPECT_EQ(sent().op, Op::kCompareSwap);
  EXPECT_EQ(sent().atomic.compare, 7u);
  EXPECT_EQ(sent().atomic.swap_or_add, 8u);
  EXPECT_EQ(sent().cookie, 0x9999u);
  EXPECT_EQ(FetchAdd(ep_, nullptr, &remote_, 0), Arg(3));
  EXPECT_EQ(FetchAdd(ep_, &local_, nullptr, 0), Arg(5));
  EXPECT_EQ(FetchAdd(ep_, &local_, &remote_, 0x20), Arg(6));
  EXPECT_EQ(CompareSwap(ep_, nullptr, &remote_, 0), Arg(4));
  EXPECT_EQ(CompareSwap(ep_, &local_, nullptr, 0), Arg(6));
  EXPECT_EQ(CompareSwap(ep_, &local_, &remote_, 0x20), Arg(7));
}

// covers: semantics 15.2
TEST_F(ExtensionTest, AtomicsMoveEightAlignedBytes) {
  local_.segment_length = 100;
  ASSERT_EQ(FetchAdd(ep_, &local_, &remote_, 0), DAT_SUCCESS);
  EXPECT_EQ(adapter().last_qp().sent_segments.back()[0].segment_length, 8u);
  local_.segment_length = 7;
  EXPECT_EQ(FetchAdd(ep_, &local_, &remote_, 0), Ret(DAT_LENGTH_ERROR));
  local_.segment_length = 8;
  remote_.virtual_address = 0x2004;
  EXPECT_EQ(FetchAdd(ep_, &local_, &remote_, 0), Arg(5));
  EXPECT_EQ(CompareSwap(ep_, &local_, &remote_, 0), Arg(6));
  remote_.virtual_address = 0x2008;
  adapter().limits.atomics = false;
  EXPECT_EQ(FetchAdd(ep_, &local_, &remote_, 0), Ret(DAT_NOT_IMPLEMENTED));
}

// covers: semantics 15.2
TEST_F(ExtensionTest, OperationsThatDoNotExist) {
  for (const int op : {int{DAT_IB_UD_SEND_OP}, int{DAT_IB_UD_AH_FREE_OP},
                       int{DAT_IB_COLLECTIVE_BARRIER_OP}, 0x500, -1}) {
    EXPECT_EQ(Extension(ep_, op), Ret(DAT_NOT_IMPLEMENTED)) << op;
    EXPECT_EQ(DAT_GET_TYPE(Extension(reinterpret_cast<DAT_HANDLE>(uintptr_t{1}), op)),
              DAT_GET_TYPE(DAT_INVALID_HANDLE))
        << op;
  }
}

// covers: semantics 15.1, 15.2
TEST_F(ExtensionTest, QueryWithoutOpen) {
  char name[] = "fake-0";
  char unknown[] = "fake-1";
  DAT_IA_HANDLE ia = nullptr;
  DAT_IA_ATTR attr{};
  DAT_PROVIDER_ATTR provider{};
  const auto query = [&](char* which, DAT_IA_HANDLE* out, DAT_IA_ATTR* ia_attr) {
    return Extension(which, DAT_IB_OPEN_QUERY_OP, out, DAT_IA_FIELD_ALL, ia_attr,
                     DAT_PROVIDER_FIELD_ALL, &provider);
  };
  ASSERT_EQ(query(name, &ia, &attr), DAT_SUCCESS);
  EXPECT_STREQ(attr.adapter_name, "fake0");
  EXPECT_STREQ(provider.provider_name, "fake-0");
  EXPECT_EQ(Extension(ia, DAT_IB_CLOSE_QUERY_OP), DAT_SUCCESS);
  EXPECT_EQ(Extension(ia, DAT_IB_CLOSE_QUERY_OP), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  EXPECT_EQ(DAT_GET_TYPE(query(unknown, &ia, &attr)), DAT_GET_TYPE(DAT_PROVIDER_NOT_FOUND));
  EXPECT_EQ(query(name, nullptr, &attr), Arg(2));
  // A query that fails closes what it has opened.
  FakeAdapter* before = TheFakeBackend().last_adapter;
  EXPECT_EQ(DAT_GET_TYPE(query(name, &ia, nullptr)), DAT_GET_TYPE(DAT_INVALID_PARAMETER));
  EXPECT_EQ(TheFakeBackend().last_adapter, before);
}

}  // namespace
}  // namespace softdat::engine::testing
