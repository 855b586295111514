// SPDX-License-Identifier: BSD-3-Clause
// Actions of the return code table: PZ, LMR and RMR.
#include "tests/conformance/pages.h"
#include "tests/conformance/return_cells.h"

namespace softdat::conformance {
namespace {

struct LmrArguments {
  int type = DAT_MEM_TYPE_VIRTUAL;
  DAT_REGION_DESCRIPTION region{};
  DAT_VLEN length = 64;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  int rights = DAT_MEM_PRIV_ALL_FLAG;
  int va_type = DAT_VA_TYPE_VA;
  bool out = true;
};

uint8_t* Bytes() {
  static uint8_t bytes[256];
  return bytes;
}

LmrArguments Good(World& w) {
  LmrArguments good;
  good.region.for_va = Bytes();
  good.pz = w.a().pz;
  return good;
}

DAT_RETURN Register(DAT_IA_HANDLE ia, const LmrArguments& of) {
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  const DAT_RETURN ret = dat_lmr_create(
      ia, static_cast<DAT_MEM_TYPE>(of.type), of.region, of.length, of.pz,
      static_cast<DAT_MEM_PRIV_FLAGS>(of.rights), static_cast<DAT_VA_TYPE>(of.va_type),
      of.out ? &lmr : nullptr, nullptr, nullptr, nullptr, nullptr);
  if (ret == DAT_SUCCESS) {
    EXPECT_OK(dat_lmr_free(lmr));
  } else {
    EXPECT_EQ(lmr, DAT_HANDLE_NULL);
  }
  return ret;
}

DAT_LMR_TRIPLET Outside(World& w) {
  DAT_LMR_TRIPLET outside = w.memory().local();
  outside.virtual_address += 1;
  return outside;
}

// A bind on connected EPs in which everything is right, except for what `change` does.
struct BindArguments {
  DAT_RMR_HANDLE rmr;
  DAT_LMR_HANDLE lmr;
  DAT_LMR_TRIPLET triplet;
  int rights = DAT_MEM_PRIV_REMOTE_READ_FLAG;
  int va_type = DAT_VA_TYPE_VA;
  DAT_EP_HANDLE ep;
  int flags = DAT_COMPLETION_DEFAULT_FLAG;
};

DAT_RETURN Bind(World& w, void (*change)(World&, BindArguments*), bool null_triplet = false,
                bool null_context = false) {
  w.Connected();
  BindArguments b{
      w.Rmr(),        w.memory().lmr(), w.memory().local(0, 64),    DAT_MEM_PRIV_REMOTE_READ_FLAG,
      DAT_VA_TYPE_VA, w.ep(),           DAT_COMPLETION_DEFAULT_FLAG};
  if (change != nullptr) change(w, &b);
  DAT_RMR_CONTEXT context = 77;
  const DAT_RETURN ret = dat_rmr_bind(
      b.rmr, b.lmr, null_triplet ? nullptr : &b.triplet, static_cast<DAT_MEM_PRIV_FLAGS>(b.rights),
      static_cast<DAT_VA_TYPE>(b.va_type), b.ep, Cookie(5),
      static_cast<DAT_COMPLETION_FLAGS>(b.flags), null_context ? nullptr : &context);
  if (ret == DAT_SUCCESS) {
    EXPECT_NE(context, 77u);
    w.a().Expect(w.a().request_evd, DAT_RMR_BIND_COMPLETION_EVENT);
  } else {
    EXPECT_EQ(context, 77u) << "a failed call leaves its outputs";
  }
  return ret;
}

}  // namespace

ACTION(dat_pz_create, SUCCESS, NO_SUBTYPE) {
  w.OtherPz();
  return DAT_SUCCESS;
}
ACTION(dat_pz_create, INVALID_HANDLE, INVALID_HANDLE_IA) {
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  return w.EachBadIa([&pz](DAT_HANDLE h) { return dat_pz_create(h, &pz); });
}
ACTION(dat_pz_create, INVALID_PARAMETER, INVALID_ARG2) { return dat_pz_create(w.a().ia, nullptr); }
ACTION(dat_pz_free, SUCCESS, NO_SUBTYPE) {
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  EXPECT_OK(dat_pz_create(w.a().ia, &pz));
  return dat_pz_free(pz);
}
ACTION(dat_pz_free, INVALID_HANDLE, INVALID_HANDLE_PZ) { return w.EachBad(dat_pz_free); }
ACTION(dat_pz_free, INVALID_STATE, INVALID_STATE_PZ_IN_USE) { return dat_pz_free(w.a().pz); }
ACTION(dat_pz_query, SUCCESS, NO_SUBTYPE) {
  DAT_PZ_PARAM param{};
  return dat_pz_query(w.a().pz, DAT_PZ_FIELD_ALL, &param);
}
ACTION(dat_pz_query, INVALID_HANDLE, INVALID_HANDLE_PZ) {
  DAT_PZ_PARAM param{};
  return w.EachBad([&](DAT_HANDLE h) { return dat_pz_query(h, DAT_PZ_FIELD_ALL, &param); });
}
ACTION(dat_pz_query, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_PZ_PARAM param{};
  return dat_pz_query(w.a().pz, static_cast<DAT_PZ_PARAM_MASK>(0x4000), &param);
}
ACTION(dat_pz_query, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_pz_query(w.a().pz, DAT_PZ_FIELD_ALL, nullptr);
}

ACTION(dat_lmr_create, SUCCESS, NO_SUBTYPE) { return Register(w.a().ia, Good(w)); }
ACTION(dat_lmr_create, INVALID_ADDRESS, NO_SUBTYPE) {
  Pages pages(1);
  pages.Unmap(0, 1);
  LmrArguments of = Good(w);
  of.region.for_va = pages.page(0);
  return Register(w.a().ia, of);
}
ACTION(dat_lmr_create, PRIVILEGES_VIOLATION, NO_SUBTYPE) {
  Pages pages(1);
  pages.Protect(0, 1, PROT_READ);
  LmrArguments of = Good(w);
  of.region.for_va = pages.page(0);
  return Register(w.a().ia, of);
}
ACTION(dat_lmr_create, INVALID_HANDLE, INVALID_HANDLE_IA) {
  return w.EachBadIa([&w](DAT_HANDLE h) { return Register(h, Good(w)); });
}
ACTION(dat_lmr_create, INVALID_HANDLE, INVALID_HANDLE_PZ) {
  return w.EachBad([&w](DAT_HANDLE h) {
    LmrArguments bad = Good(w);
    bad.pz = h;
    return Register(w.a().ia, bad);
  });
}
ACTION(dat_lmr_create, INVALID_HANDLE, INVALID_HANDLE_LMR) {
  return w.EachBad([&w](DAT_HANDLE h) {
    LmrArguments bad = Good(w);
    bad.type = DAT_MEM_TYPE_LMR;
    bad.region.for_lmr_handle = h;
    return Register(w.a().ia, bad);
  });
}
ACTION(dat_lmr_create, INVALID_PARAMETER, INVALID_ARG2) {
  LmrArguments bad = Good(w);
  bad.type = 0x40;
  return Register(w.a().ia, bad);
}
ACTION(dat_lmr_create, INVALID_PARAMETER, INVALID_ARG3) {
  LmrArguments bad = Good(w);
  bad.region.for_va = nullptr;
  return Register(w.a().ia, bad);
}
ACTION(dat_lmr_create, INVALID_PARAMETER, INVALID_ARG4) {
  LmrArguments bad = Good(w);
  bad.length = ~DAT_VLEN{0};
  return Register(w.a().ia, bad);
}
ACTION(dat_lmr_create, INVALID_PARAMETER, INVALID_ARG6) {
  LmrArguments bad = Good(w);
  bad.rights = 0x800;
  return Register(w.a().ia, bad);
}
ACTION(dat_lmr_create, INVALID_PARAMETER, INVALID_ARG7) {
  LmrArguments bad = Good(w);
  bad.out = false;
  EXPECT_RETURN(Register(w.a().ia, bad), BadArgument(7));
  bad = Good(w);
  bad.va_type = 9;
  return Register(w.a().ia, bad);
}
ACTION(dat_lmr_create, LENGTH_ERROR, NO_SUBTYPE) {
  LmrArguments bad = Good(w);
  bad.length = 0;
  return Register(w.a().ia, bad);
}
ACTION(dat_lmr_create, INVALID_STATE, NO_SUBTYPE) {
  // Memory that no other process can see.
  uint8_t id[DAT_LMR_COOKIE_SIZE] = "cells";
  LmrArguments bad = Good(w);
  bad.type = DAT_MEM_TYPE_SHARED_VIRTUAL;
  bad.region.for_shared_memory.virtual_address = Bytes();
  bad.region.for_shared_memory.shared_memory_id = reinterpret_cast<DAT_LMR_COOKIE>(&id);
  return Register(w.a().ia, bad);
}
ACTION(dat_lmr_free, SUCCESS, NO_SUBTYPE) {
  auto buffer = w.a().MakeBuffer(16);
  return buffer->Free();
}
ACTION(dat_lmr_free, INVALID_HANDLE, INVALID_HANDLE_LMR) { return w.EachBad(dat_lmr_free); }
ACTION(dat_lmr_free, INVALID_STATE, INVALID_STATE_LMR_IN_USE) {
  EXPECT_OK(Bind(w, nullptr));
  return dat_lmr_free(w.memory().lmr());
}
ACTION(dat_lmr_query, SUCCESS, NO_SUBTYPE) {
  DAT_LMR_PARAM param{};
  return dat_lmr_query(w.memory().lmr(), DAT_LMR_FIELD_ALL, &param);
}
ACTION(dat_lmr_query, INVALID_HANDLE, INVALID_HANDLE_LMR) {
  DAT_LMR_PARAM param{};
  return w.EachBad([&](DAT_HANDLE h) { return dat_lmr_query(h, DAT_LMR_FIELD_ALL, &param); });
}
ACTION(dat_lmr_query, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_LMR_PARAM param{};
  return dat_lmr_query(w.memory().lmr(), static_cast<DAT_LMR_PARAM_MASK>(0x4000), &param);
}
ACTION(dat_lmr_query, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_lmr_query(w.memory().lmr(), DAT_LMR_FIELD_ALL, nullptr);
}

#define SYNC_ACTIONS(function)                                                \
  ACTION(function, SUCCESS, NO_SUBTYPE) {                                     \
    const DAT_LMR_TRIPLET inside = w.memory().local();                        \
    return function(w.a().ia, &inside, 1);                                    \
  }                                                                           \
  ACTION(function, INVALID_HANDLE, INVALID_HANDLE_IA) {                       \
    return w.EachBadIa([](DAT_HANDLE h) { return function(h, nullptr, 0); }); \
  }                                                                           \
  ACTION(function, INVALID_PARAMETER, INVALID_ARG2) {                         \
    const DAT_LMR_TRIPLET outside = Outside(w);                               \
    EXPECT_RETURN(function(w.a().ia, &outside, 1), BadArgument(2));           \
    return function(w.a().ia, nullptr, 1);                                    \
  }                                                                           \
  ACTION(function, INVALID_PARAMETER, INVALID_ARG3) {                         \
    const DAT_LMR_TRIPLET inside = w.memory().local();                        \
    return function(w.a().ia, &inside, ~DAT_VLEN{0});                         \
  }
SYNC_ACTIONS(dat_lmr_sync_rdma_read)
SYNC_ACTIONS(dat_lmr_sync_rdma_write)

#define RMR_CREATE_ACTIONS(function)                                      \
  ACTION(function, SUCCESS, NO_SUBTYPE) {                                 \
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;                                 \
    EXPECT_OK(function(w.a().pz, &rmr));                                  \
    return dat_rmr_free(rmr);                                             \
  }                                                                       \
  ACTION(function, INVALID_HANDLE, INVALID_HANDLE_PZ) {                   \
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;                                 \
    return w.EachBad([&rmr](DAT_HANDLE h) { return function(h, &rmr); }); \
  }                                                                       \
  ACTION(function, INVALID_PARAMETER, INVALID_ARG2) { return function(w.a().pz, nullptr); }
RMR_CREATE_ACTIONS(dat_rmr_create)
RMR_CREATE_ACTIONS(dat_rmr_create_for_ep)

ACTION(dat_rmr_free, SUCCESS, NO_SUBTYPE) {
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  EXPECT_OK(dat_rmr_create(w.a().pz, &rmr));
  return dat_rmr_free(rmr);
}
ACTION(dat_rmr_free, INVALID_HANDLE, INVALID_HANDLE_RMR) { return w.EachBad(dat_rmr_free); }
ACTION(dat_rmr_query, SUCCESS, NO_SUBTYPE) {
  DAT_RMR_PARAM param{};
  return dat_rmr_query(w.Rmr(), DAT_RMR_FIELD_ALL, &param);
}
ACTION(dat_rmr_query, INVALID_HANDLE, INVALID_HANDLE_RMR) {
  DAT_RMR_PARAM param{};
  return w.EachBad([&](DAT_HANDLE h) { return dat_rmr_query(h, DAT_RMR_FIELD_ALL, &param); });
}
ACTION(dat_rmr_query, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_RMR_PARAM param{};
  return dat_rmr_query(w.Rmr(), static_cast<DAT_RMR_PARAM_MASK>(0x4000), &param);
}
ACTION(dat_rmr_query, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_rmr_query(w.Rmr(), DAT_RMR_FIELD_ALL, nullptr);
}

ACTION(dat_rmr_bind, SUCCESS, NO_SUBTYPE) { return Bind(w, nullptr); }
ACTION(dat_rmr_bind, INVALID_HANDLE, INVALID_HANDLE_RMR) {
  return w.EachBad([&w](DAT_HANDLE h) { return w.Bind(w.memory().local(), h, w.ep()); });
}
ACTION(dat_rmr_bind, INVALID_HANDLE, INVALID_HANDLE_EP) {
  const DAT_RMR_HANDLE rmr = w.Rmr();
  EXPECT_RETURN(w.Bind(w.memory().local(), rmr, w.b().ep), BadHandle(DAT_INVALID_HANDLE_EP));
  return w.EachBad([&w, rmr](DAT_HANDLE h) { return w.Bind(w.memory().local(), rmr, h); });
}
ACTION(dat_rmr_bind, INVALID_HANDLE, INVALID_HANDLE_LMR) {
  const DAT_RMR_HANDLE rmr = w.Rmr();
  const DAT_LMR_TRIPLET triplet = w.memory().local();
  return w.EachBad([&](DAT_HANDLE h) {
    DAT_RMR_CONTEXT context = 0;
    return dat_rmr_bind(rmr, h, &triplet, DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA, w.ep(),
                        Cookie(1), DAT_COMPLETION_DEFAULT_FLAG, &context);
  });
}
ACTION(dat_rmr_bind, INVALID_PARAMETER, INVALID_ARG3) {
  EXPECT_RETURN(Bind(w, nullptr, true), BadArgument(3));
  EXPECT_RETURN(w.Bind(Outside(w), w.Rmr(), w.ep()), BadArgument(3)) << "bounds";
  DAT_LMR_TRIPLET foreign = w.memory().local();
  foreign.lmr_context += 1;
  return w.Bind(foreign, w.Rmr(), w.ep());
}
ACTION(dat_rmr_bind, INVALID_PARAMETER, INVALID_ARG4) {
  return Bind(w, [](World&, BindArguments* b) { b->rights = 0x800; });
}
ACTION(dat_rmr_bind, INVALID_PARAMETER, INVALID_ARG5) {
  return Bind(w, [](World&, BindArguments* b) { b->va_type = 9; });
}
ACTION(dat_rmr_bind, INVALID_PARAMETER, INVALID_ARG8) {
  return Bind(w, [](World&, BindArguments* b) { b->flags = 0x400; });
}
ACTION(dat_rmr_bind, INVALID_PARAMETER, INVALID_ARG9) { return Bind(w, nullptr, false, true); }
ACTION(dat_rmr_bind, INVALID_STATE, INVALID_STATE_EP_UNCONNECTED) {
  return w.Bind(w.memory().local(), w.Rmr(), w.ep());
}
ACTION(dat_rmr_bind, INVALID_STATE, INVALID_STATE_EP_EVD_REQUEST) {
  const DAT_EVD_HANDLE dtos = w.Evd(DAT_EVD_DTO_FLAG);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_OK(
      dat_ep_create(w.a().ia, w.a().pz, w.a().recv_evd, dtos, w.a().connect_evd, nullptr, &ep));
  const DAT_RETURN ret = w.Bind(w.memory().local(), w.Rmr(), ep);
  EXPECT_OK(dat_ep_free(ep));
  return ret;
}
ACTION(dat_rmr_bind, PRIVILEGES_VIOLATION, PRIVILEGES_WRITE) {
  const auto read_only = w.a().MakeBuffer(64, 0, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  const DAT_LMR_TRIPLET triplet = read_only->local();
  DAT_RMR_CONTEXT context = 0;
  return dat_rmr_bind(w.Rmr(), read_only->lmr(), &triplet, DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
                      DAT_VA_TYPE_VA, w.ep(), Cookie(1), DAT_COMPLETION_DEFAULT_FLAG, &context);
}
ACTION(dat_rmr_bind, PROTECTION_VIOLATION, NO_SUBTYPE) {
  DAT_RMR_HANDLE foreign = DAT_HANDLE_NULL;
  EXPECT_OK(dat_rmr_create(w.OtherPz(), &foreign));
  const DAT_RETURN ret = w.Bind(w.memory().local(), foreign, w.ep());
  EXPECT_OK(dat_rmr_free(foreign));
  return ret;
}
ACTION(dat_rmr_bind, INSUFFICIENT_RESOURCES, RESOURCE_TEP) {
  // A peer that posts no receive holds back the first send and everything behind it.
  w.Connected();
  const DAT_RMR_HANDLE rmr = w.Rmr();
  EXPECT_OK(PostSend(w.ep(), {w.memory().local()}, 1));
  return w.FirstFailure([&w, rmr] {
    PostSend(w.ep(), {w.memory().local()}, 1);
    return w.Bind(w.memory().local(), rmr, w.ep());
  });
}

}  // namespace softdat::conformance
