// SPDX-License-Identifier: BSD-3-Clause
// Actions of the return code table: endpoints and shared receive queues.
#include "tests/conformance/return_cells.h"

namespace softdat::conformance {
namespace {

DAT_EP_ATTR Attributes() {
  DAT_EP_ATTR attr{};
  attr.max_recv_dtos = attr.max_request_dtos = 4;
  attr.max_recv_iov = attr.max_request_iov = 1;
  return attr;
}

struct EpArguments {
  DAT_IA_HANDLE ia;
  DAT_PZ_HANDLE pz;
  DAT_EVD_HANDLE recv, request, connect;
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  DAT_EP_ATTR attr = Attributes();
  bool no_attr = false;
  bool out = true;
};
EpArguments Good(World& w) {
  return {w.a().ia, w.a().pz, w.a().recv_evd, w.a().request_evd, w.a().connect_evd};
}
EpArguments GoodSrq(World& w) {
  EpArguments good = Good(w);
  good.srq = w.Srq();
  return good;
}
DAT_RETURN Create(const EpArguments& of) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  const DAT_EP_ATTR* attr = of.no_attr ? nullptr : &of.attr;
  DAT_EP_HANDLE* out = of.out ? &ep : nullptr;
  const DAT_RETURN ret =
      of.srq == DAT_HANDLE_NULL
          ? dat_ep_create(of.ia, of.pz, of.recv, of.request, of.connect, attr, out)
          : dat_ep_create_with_srq(of.ia, of.pz, of.recv, of.request, of.connect, of.srq, attr,
                                   out);
  if (ret == DAT_SUCCESS) {
    EXPECT_OK(dat_ep_free(ep));
  } else {
    EXPECT_EQ(ep, DAT_HANDLE_NULL);
  }
  return ret;
}
// Replaces one handle of `good` by each bad one.
DAT_RETURN EachBadPart(World& w, EpArguments good, DAT_HANDLE EpArguments::*part) {
  return w.EachBad(
      [&](DAT_HANDLE h) {
        good.*part = h;
        return Create(good);
      },
      false);
}

DAT_RETURN Modify(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask) {
  DAT_EP_PARAM param{};
  param.ep_attr.max_recv_dtos = -3;
  return dat_ep_modify(ep, mask, &param);
}

DAT_RETURN CreateSrq(World& w, DAT_SRQ_ATTR attr, bool out = true) {
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  const DAT_RETURN ret = dat_srq_create(w.a().ia, w.a().pz, &attr, out ? &srq : nullptr);
  if (ret == DAT_SUCCESS) {
    EXPECT_OK(dat_srq_free(srq));
  }
  return ret;
}
DAT_RETURN PostSrq(DAT_SRQ_HANDLE srq, DAT_LMR_TRIPLET triplet) {
  return dat_srq_post_recv(srq, 1, &triplet, Cookie(1));
}

}  // namespace

// Arguments that both ways to create an EP refuse.
#define EP_CREATE_ACTIONS(function, good)                           \
  ACTION(function, SUCCESS, NO_SUBTYPE) { return Create(good(w)); } \
  ACTION(function, INVALID_HANDLE, INVALID_HANDLE_IA) {             \
    EpArguments bad = good(w);                                      \
    return w.EachBadIa([&bad](DAT_HANDLE h) {                       \
      bad.ia = h;                                                   \
      return Create(bad);                                           \
    });                                                             \
  }                                                                 \
  ACTION(function, INVALID_HANDLE, INVALID_HANDLE_PZ) {             \
    return EachBadPart(w, good(w), &EpArguments::pz);               \
  }                                                                 \
  ACTION(function, INVALID_HANDLE, INVALID_HANDLE_EVD_RECV) {       \
    return EachBadPart(w, good(w), &EpArguments::recv);             \
  }                                                                 \
  ACTION(function, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {    \
    return EachBadPart(w, good(w), &EpArguments::request);          \
  }                                                                 \
  ACTION(function, INVALID_HANDLE, INVALID_HANDLE_EVD_CONN) {       \
    return EachBadPart(w, good(w), &EpArguments::connect);          \
  }                                                                 \
  ACTION(function, MODEL_NOT_SUPPORTED, NO_SUBTYPE) {               \
    EpArguments bad = good(w);                                      \
    bad.attr.qos = DAT_QOS_HIGH_THROUGHPUT;                         \
    return Create(bad);                                             \
  }                                                                 \
  static DAT_RETURN function##_BadAttributes(World& w) {            \
    EpArguments bad = good(w);                                      \
    bad.attr.max_request_dtos = -1;                                 \
    const DAT_RETURN ret = Create(bad);                             \
    bad = good(w);                                                  \
    bad.attr.max_request_dtos = 0x7fffffff;                         \
    EXPECT_RETURN(Create(bad), ret);                                \
    bad = good(w);                                                  \
    bad.attr.recv_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG;  \
    EXPECT_RETURN(Create(bad), ret);                                \
    bad = good(w);                                                  \
    bad.attr.max_rdma_read_out = 0x7fffffff;                        \
    EXPECT_RETURN(Create(bad), ret);                                \
    return ret;                                                     \
  }                                                                 \
  static DAT_RETURN function##_WithoutResult(World& w) {            \
    EpArguments bad = good(w);                                      \
    bad.out = false;                                                \
    return Create(bad);                                             \
  }
EP_CREATE_ACTIONS(dat_ep_create, Good)
EP_CREATE_ACTIONS(dat_ep_create_with_srq, GoodSrq)
ACTION(dat_ep_create, INVALID_PARAMETER, INVALID_ARG6) { return dat_ep_create_BadAttributes(w); }
ACTION(dat_ep_create, INVALID_PARAMETER, INVALID_ARG7) { return dat_ep_create_WithoutResult(w); }
ACTION(dat_ep_create_with_srq, INVALID_PARAMETER, INVALID_ARG2) {
  EpArguments bad = GoodSrq(w);
  bad.pz = w.OtherPz();
  return Create(bad);
}
ACTION(dat_ep_create_with_srq, INVALID_PARAMETER, INVALID_ARG7) {
  EXPECT_RETURN(dat_ep_create_with_srq_BadAttributes(w), BadArgument(7));
  EpArguments bad = GoodSrq(w);
  bad.no_attr = true;
  return Create(bad);
}
ACTION(dat_ep_create_with_srq, INVALID_PARAMETER, INVALID_ARG8) {
  return dat_ep_create_with_srq_WithoutResult(w);
}
ACTION(dat_ep_create_with_srq, INVALID_HANDLE, INVALID_HANDLE_SRQ) {
  return w.EachBad([&w](DAT_HANDLE h) {
    const DAT_EP_ATTR attr = Attributes();
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    return dat_ep_create_with_srq(w.a().ia, w.a().pz, w.a().recv_evd, w.a().request_evd,
                                  w.a().connect_evd, h, &attr, &ep);
  });
}

ACTION(dat_ep_query, SUCCESS, NO_SUBTYPE) {
  DAT_EP_PARAM param{};
  return dat_ep_query(w.ep(), DAT_EP_FIELD_ALL, &param);
}
ACTION(dat_ep_query, INVALID_HANDLE, INVALID_HANDLE_EP) {
  DAT_EP_PARAM param{};
  return w.EachBad([&](DAT_HANDLE h) { return dat_ep_query(h, DAT_EP_FIELD_ALL, &param); });
}
ACTION(dat_ep_query, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_EP_PARAM param{};
  return dat_ep_query(w.ep(), ~DAT_EP_PARAM_MASK{0}, &param);
}
ACTION(dat_ep_query, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_ep_query(w.ep(), DAT_EP_FIELD_ALL, nullptr);
}
ACTION(dat_ep_get_status, SUCCESS, NO_SUBTYPE) {
  return dat_ep_get_status(w.ep(), nullptr, nullptr, nullptr);
}
ACTION(dat_ep_get_status, INVALID_HANDLE, INVALID_HANDLE_EP) {
  return w.EachBad([](DAT_HANDLE h) { return dat_ep_get_status(h, nullptr, nullptr, nullptr); });
}
ACTION(dat_ep_modify, SUCCESS, NO_SUBTYPE) { return Modify(w.ep(), DAT_EP_FIELD_EP_ATTR_QOS); }
ACTION(dat_ep_modify, INVALID_HANDLE, INVALID_HANDLE_EP) {
  return w.EachBad([](DAT_HANDLE h) { return Modify(h, 0); });
}
ACTION(dat_ep_modify, INVALID_PARAMETER, INVALID_ARG2) {
  return Modify(w.ep(), ~DAT_EP_PARAM_MASK{0});
}
ACTION(dat_ep_modify, INVALID_PARAMETER, INVALID_ARG3) {
  EXPECT_RETURN(dat_ep_modify(w.ep(), DAT_EP_FIELD_EP_ATTR_QOS, nullptr), BadArgument(3));
  EXPECT_RETURN(Modify(w.ep(), DAT_EP_FIELD_EP_STATE), BadArgument(3)) << "not modifiable";
  return Modify(w.ep(), DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS);
}
ACTION(dat_ep_modify, INVALID_STATE, INVALID_STATE_EP_CONNECTED) {
  w.Connected();
  return Modify(w.ep(), DAT_EP_FIELD_EP_ATTR_QOS);
}
ACTION(dat_ep_reset, SUCCESS, NO_SUBTYPE) { return dat_ep_reset(w.ep()); }
ACTION(dat_ep_reset, INVALID_HANDLE, INVALID_HANDLE_EP) { return w.EachBad(dat_ep_reset); }
ACTION(dat_ep_reset, INVALID_STATE, INVALID_STATE_EP_CONNECTED) {
  w.Connected();
  return dat_ep_reset(w.ep());
}
ACTION(dat_ep_free, SUCCESS, NO_SUBTYPE) { return Create(Good(w)); }
ACTION(dat_ep_free, INVALID_HANDLE, INVALID_HANDLE_EP) { return w.EachBad(dat_ep_free); }
ACTION(dat_ep_free, INVALID_STATE, INVALID_STATE_EP_RESERVED) {
  w.Rsp();
  return dat_ep_free(w.ep());
}
ACTION(dat_ep_recv_query, SUCCESS, NO_SUBTYPE) {
  DAT_COUNT buffers = 0, span = 0;
  return dat_ep_recv_query(w.SrqEp(), &buffers, &span);
}
ACTION(dat_ep_recv_query, INVALID_HANDLE, INVALID_HANDLE_EP) {
  return w.EachBad([](DAT_HANDLE h) { return dat_ep_recv_query(h, nullptr, nullptr); });
}
ACTION(dat_ep_set_watermark, SUCCESS, NO_SUBTYPE) {
  return dat_ep_set_watermark(w.SrqEp(), DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE);
}
ACTION(dat_ep_set_watermark, INVALID_HANDLE, INVALID_HANDLE_EP) {
  return w.EachBad([](DAT_HANDLE h) {
    return dat_ep_set_watermark(h, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE);
  });
}
ACTION(dat_ep_set_watermark, MODEL_NOT_SUPPORTED, NO_SUBTYPE) {
  return dat_ep_set_watermark(w.ep(), 4, 8);  // an EP with a receive queue of its own
}
ACTION(dat_ep_set_watermark, INVALID_PARAMETER, INVALID_ARG2) {
  return dat_ep_set_watermark(w.SrqEp(), -7, DAT_WATERMARK_INFINITE);
}
ACTION(dat_ep_set_watermark, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_ep_set_watermark(w.SrqEp(), DAT_WATERMARK_INFINITE, -7);
}

ACTION(dat_srq_create, SUCCESS, NO_SUBTYPE) { return CreateSrq(w, {8, 1, DAT_SRQ_LW_DEFAULT}); }
ACTION(dat_srq_create, INVALID_HANDLE, INVALID_HANDLE_IA) {
  DAT_SRQ_ATTR attr{8, 1, DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  return w.EachBadIa([&](DAT_HANDLE h) { return dat_srq_create(h, w.a().pz, &attr, &srq); });
}
ACTION(dat_srq_create, INVALID_HANDLE, INVALID_HANDLE_PZ) {
  DAT_SRQ_ATTR attr{8, 1, DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  return w.EachBad([&](DAT_HANDLE h) { return dat_srq_create(w.a().ia, h, &attr, &srq); });
}
ACTION(dat_srq_create, INVALID_PARAMETER, INVALID_ARG3) {
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  EXPECT_RETURN(dat_srq_create(w.a().ia, w.a().pz, nullptr, &srq), BadArgument(3));
  EXPECT_RETURN(CreateSrq(w, {0, 1, DAT_SRQ_LW_DEFAULT}), BadArgument(3));
  EXPECT_RETURN(CreateSrq(w, {8, 0, DAT_SRQ_LW_DEFAULT}), BadArgument(3));
  EXPECT_RETURN(CreateSrq(w, {0x7fffffff, 1, DAT_SRQ_LW_DEFAULT}), BadArgument(3));
  return CreateSrq(w, {8, 1, 3});
}
ACTION(dat_srq_create, INVALID_PARAMETER, INVALID_ARG4) {
  return CreateSrq(w, {8, 1, DAT_SRQ_LW_DEFAULT}, false);
}
ACTION(dat_srq_free, SUCCESS, NO_SUBTYPE) { return CreateSrq(w, {8, 1, DAT_SRQ_LW_DEFAULT}); }
ACTION(dat_srq_free, INVALID_HANDLE, INVALID_HANDLE_SRQ) { return w.EachBad(dat_srq_free); }
ACTION(dat_srq_free, INVALID_STATE, INVALID_STATE_SRQ_IN_USE) {
  DAT_EP_PARAM param{};
  EXPECT_OK(dat_ep_query(w.SrqEp(), DAT_EP_FIELD_ALL, &param));
  return dat_srq_free(param.srq_handle);
}
ACTION(dat_srq_post_recv, SUCCESS, NO_SUBTYPE) { return PostSrq(w.Srq(), w.memory().local()); }
ACTION(dat_srq_post_recv, INVALID_HANDLE, INVALID_HANDLE_SRQ) {
  return w.EachBad([&w](DAT_HANDLE h) { return PostSrq(h, w.memory().local()); });
}
ACTION(dat_srq_post_recv, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_LMR_TRIPLET three[3] = {w.memory().local(), w.memory().local(), w.memory().local()};
  const DAT_SRQ_HANDLE srq = w.Srq();
  EXPECT_RETURN(dat_srq_post_recv(srq, -1, three, Cookie(1)), BadArgument(2));
  return dat_srq_post_recv(srq, 3, three, Cookie(1));
}
ACTION(dat_srq_post_recv, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_srq_post_recv(w.Srq(), 1, nullptr, Cookie(1));
}
ACTION(dat_srq_post_recv, INVALID_PARAMETER, NO_SUBTYPE) {
  return PostSrq(w.Srq(), w.memory().local(1, 4096));
}
ACTION(dat_srq_post_recv, INSUFFICIENT_RESOURCES, RESOURCE_SRQ) {
  const DAT_SRQ_HANDLE srq = w.Srq();
  return w.FirstFailure([&w, srq] { return PostSrq(srq, w.memory().local()); });
}
ACTION(dat_srq_post_recv, PROTECTION_VIOLATION, NO_SUBTYPE) {
  const Buffer foreign(w.a().ia, w.OtherPz(), 64);
  return PostSrq(w.Srq(), foreign.local());
}
ACTION(dat_srq_post_recv, PRIVILEGES_VIOLATION, NO_SUBTYPE) {
  const auto read_only = w.a().MakeBuffer(64, 0, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  return PostSrq(w.Srq(), read_only->local());
}
ACTION(dat_srq_query, SUCCESS, NO_SUBTYPE) {
  DAT_SRQ_PARAM param{};
  return dat_srq_query(w.Srq(), DAT_SRQ_FIELD_ALL, &param);
}
ACTION(dat_srq_query, INVALID_HANDLE, INVALID_HANDLE_SRQ) {
  DAT_SRQ_PARAM param{};
  return w.EachBad([&](DAT_HANDLE h) { return dat_srq_query(h, DAT_SRQ_FIELD_ALL, &param); });
}
ACTION(dat_srq_query, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_SRQ_PARAM param{};
  return dat_srq_query(w.Srq(), static_cast<DAT_SRQ_PARAM_MASK>(0x4000), &param);
}
ACTION(dat_srq_query, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_srq_query(w.Srq(), DAT_SRQ_FIELD_ALL, nullptr);
}
ACTION(dat_srq_resize, SUCCESS, NO_SUBTYPE) { return dat_srq_resize(w.Srq(), 16); }
ACTION(dat_srq_resize, INVALID_HANDLE, INVALID_HANDLE_SRQ) {
  return w.EachBad([](DAT_HANDLE h) { return dat_srq_resize(h, 16); });
}
ACTION(dat_srq_resize, INVALID_PARAMETER, INVALID_ARG2) {
  const DAT_SRQ_HANDLE srq = w.Srq();
  EXPECT_RETURN(dat_srq_resize(srq, -1), BadArgument(2));
  return dat_srq_resize(srq, 0);
}
ACTION(dat_srq_resize, INVALID_STATE, INVALID_STATE_SRQ_OPERATIONAL) {
  const DAT_SRQ_HANDLE srq = w.Srq();
  EXPECT_OK(dat_srq_set_lw(srq, 3));
  w.a().Expect(w.a().async_evd, DAT_ASYNC_ERROR_EP_BROKEN);  // the count is below it at once
  return dat_srq_resize(srq, 2);
}
ACTION(dat_srq_resize, INVALID_STATE, NO_SUBTYPE) {
  const DAT_SRQ_HANDLE srq = w.Srq();
  for (int i = 0; i < 3; ++i) EXPECT_OK(PostSrq(srq, w.memory().local()));
  return dat_srq_resize(srq, 1);
}
ACTION(dat_srq_resize, INSUFFICIENT_RESOURCES, RESOURCE_SRQ) {
  return dat_srq_resize(w.Srq(), 0x7fffffff);
}
ACTION(dat_srq_set_lw, SUCCESS, NO_SUBTYPE) { return dat_srq_set_lw(w.Srq(), DAT_SRQ_LW_DEFAULT); }
ACTION(dat_srq_set_lw, INVALID_HANDLE, INVALID_HANDLE_SRQ) {
  return w.EachBad([](DAT_HANDLE h) { return dat_srq_set_lw(h, 1); });
}
ACTION(dat_srq_set_lw, INVALID_PARAMETER, INVALID_ARG2) {
  const DAT_SRQ_HANDLE srq = w.Srq();
  EXPECT_RETURN(dat_srq_set_lw(srq, -1), BadArgument(2));
  return dat_srq_set_lw(srq, 1000);
}

}  // namespace softdat::conformance
