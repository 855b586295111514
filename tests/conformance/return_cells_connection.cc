// SPDX-License-Identifier: BSD-3-Clause
// Actions of the return code table: connections and service points.
#include "tests/conformance/return_cells.h"

namespace softdat::conformance {
namespace {

constexpr DAT_TIMEOUT kSecondUs = 1'000'000;
uint8_t data[4096];

struct ConnectArguments {
  DAT_TIMEOUT timeout_us = kSecondUs;
  DAT_COUNT size = 0;
  void* bytes = nullptr;
  int qos = DAT_QOS_BEST_EFFORT;
  int flags = DAT_CONNECT_DEFAULT_FLAG;
};

DAT_RETURN Connect(World& w, DAT_EP_HANDLE ep, const ConnectArguments& with = {},
                   bool address = true) {
  return dat_ep_connect(ep, address ? w.address() : nullptr, w.FreeQualifier(), with.timeout_us,
                        with.size, with.bytes, static_cast<DAT_QOS>(with.qos),
                        static_cast<DAT_CONNECT_FLAGS>(with.flags));
}

// ep_connect, ep_dup_connect and ep_common_connect in one shape.
using Connector = DAT_RETURN (*)(World&, DAT_EP_HANDLE, const ConnectArguments&);
DAT_RETURN Plain(World& w, DAT_EP_HANDLE ep, const ConnectArguments& with) {
  return Connect(w, ep, with);
}
DAT_RETURN Dup(World& w, DAT_EP_HANDLE ep, const ConnectArguments& with) {
  return dat_ep_dup_connect(ep, w.ep(), with.timeout_us, with.size, with.bytes,
                            static_cast<DAT_QOS>(with.qos));
}
DAT_RETURN Common(World& w, DAT_EP_HANDLE ep, const ConnectArguments& with) {
  return dat_ep_common_connect(ep, w.SocketAddress(static_cast<uint16_t>(w.FreeQualifier() | 1)),
                               with.timeout_us, with.size, with.bytes);
}

DAT_RETURN WithTimeout0(World& w, Connector connect) {
  ConnectArguments bad;
  bad.timeout_us = 0;
  return connect(w, w.ep(), bad);
}
DAT_RETURN WithLongData(World& w, Connector connect) {
  ConnectArguments bad;
  bad.bytes = data;
  bad.size = sizeof data;
  const DAT_RETURN ret = connect(w, w.ep(), bad);
  bad.size = -1;
  EXPECT_RETURN(connect(w, w.ep(), bad), ret);
  return ret;
}
DAT_RETURN WithNullData(World& w, Connector connect) {
  ConnectArguments bad;
  bad.size = 4;
  return connect(w, w.ep(), bad);
}
DAT_RETURN WithOddQos(World& w, Connector connect) {
  ConnectArguments bad;
  bad.qos = 0x10;
  return connect(w, w.ep(), bad);
}
DAT_EP_HANDLE NewEp(World& w) { return w.a().MakeEp(); }

sockaddr OfFamily(int family) {
  sockaddr address{};
  address.sa_family = static_cast<sa_family_t>(family);
  return address;
}
DAT_RETURN ConnectTo(World& w, sockaddr to) {
  return dat_ep_connect(w.ep(), &to, 5, kSecondUs, 0, nullptr, DAT_QOS_BEST_EFFORT,
                        DAT_CONNECT_DEFAULT_FLAG);
}

DAT_RETURN CreatePsp(World& w, DAT_CONN_QUAL qualifier, DAT_EVD_HANDLE evd, int flags,
                     bool out = true) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  const DAT_RETURN ret = dat_psp_create(w.a().ia, qualifier, evd, static_cast<DAT_PSP_FLAGS>(flags),
                                        out ? &psp : nullptr);
  if (ret == DAT_SUCCESS) {
    EXPECT_OK(dat_psp_free(psp));
  }
  return ret;
}
DAT_RETURN CreateAny(World& w, DAT_EVD_HANDLE evd, int flags, bool qualifier_out = true,
                     bool out = true) {
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  const DAT_RETURN ret =
      dat_psp_create_any(w.a().ia, qualifier_out ? &qualifier : nullptr, evd,
                         static_cast<DAT_PSP_FLAGS>(flags), out ? &psp : nullptr);
  if (ret == DAT_SUCCESS) {
    EXPECT_OK(dat_psp_free(psp));
  }
  return ret;
}
DAT_RETURN CreateRsp(World& w, DAT_CONN_QUAL qualifier, DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd) {
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  const DAT_RETURN ret = dat_rsp_create(w.a().ia, qualifier, ep, evd, &rsp);
  if (ret == DAT_SUCCESS) {
    EXPECT_OK(dat_rsp_free(rsp));
  }
  return ret;
}
DAT_RETURN CreateCsp(World& w, int protocol, uint16_t port, DAT_EVD_HANDLE evd) {
  const DAT_IA_ADDRESS_PTR at = w.SocketAddress(port);
  DAT_COMM comm{at->sa_family, SOCK_STREAM, protocol};
  DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
  const DAT_RETURN ret = dat_csp_create(w.a().ia, &comm, at, evd, &csp);
  if (ret == DAT_SUCCESS) {
    EXPECT_OK(dat_csp_free(csp));
  }
  return ret;
}
uint16_t FreePort(World& w) { return static_cast<uint16_t>(w.FreeQualifier()); }

}  // namespace

ACTION(dat_ep_connect, SUCCESS, NO_SUBTYPE) { return Connect(w, w.ep()); }
ACTION(dat_ep_connect, INVALID_HANDLE, INVALID_HANDLE_EP) {
  return w.EachBad([&w](DAT_HANDLE h) { return Connect(w, h); });
}
ACTION(dat_ep_connect, INVALID_PARAMETER, INVALID_ARG2) { return Connect(w, w.ep(), {}, false); }
ACTION(dat_ep_connect, INVALID_PARAMETER, INVALID_ARG4) { return WithTimeout0(w, Plain); }
ACTION(dat_ep_connect, INVALID_PARAMETER, INVALID_ARG5) { return WithLongData(w, Plain); }
ACTION(dat_ep_connect, INVALID_PARAMETER, INVALID_ARG6) { return WithNullData(w, Plain); }
ACTION(dat_ep_connect, INVALID_HANDLE, INVALID_HANDLE_EVD_CONN) { return Connect(w, w.BareEp()); }
ACTION(dat_ep_connect, INVALID_STATE, INVALID_STATE_EP_NOTREADY) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_OK(dat_ep_create(w.a().ia, nullptr, w.a().recv_evd, w.a().request_evd, w.a().connect_evd,
                          nullptr, &ep));
  const DAT_RETURN ret = Connect(w, ep);
  EXPECT_OK(dat_ep_free(ep));
  return ret;
}
ACTION(dat_ep_connect, INVALID_STATE, INVALID_STATE_EP_CONNECTED) {
  w.Connected();
  return Connect(w, w.ep());
}
ACTION(dat_ep_connect, INVALID_ADDRESS, INVALID_ADDRESS_UNSUPPORTED) {
  return ConnectTo(w, OfFamily(AF_UNIX));
}
ACTION(dat_ep_connect, INVALID_ADDRESS, INVALID_ADDRESS_MALFORMED) {
  return ConnectTo(w, OfFamily(AF_UNSPEC));
}
ACTION(dat_ep_connect, MODEL_NOT_SUPPORTED, NO_SUBTYPE) {
  ConnectArguments bad;
  bad.flags = DAT_CONNECT_MULTIPATH_FLAG;
  EXPECT_RETURN(Connect(w, w.ep(), bad), Error(DAT_MODEL_NOT_SUPPORTED));
  return WithOddQos(w, Plain);
}

ACTION(dat_ep_dup_connect, SUCCESS, NO_SUBTYPE) {
  w.Connected();
  return Dup(w, NewEp(w), {});
}
ACTION(dat_ep_dup_connect, INVALID_HANDLE, INVALID_HANDLE_EP) {
  return w.EachBad([&w](DAT_HANDLE h) { return Dup(w, h, {}); });
}
ACTION(dat_ep_dup_connect, INVALID_HANDLE, INVALID_HANDLE2) {
  return w.EachBad([&w](DAT_HANDLE h) {
    return dat_ep_dup_connect(w.ep(), h, kSecondUs, 0, nullptr, DAT_QOS_BEST_EFFORT);
  });
}
ACTION(dat_ep_dup_connect, INVALID_PARAMETER, INVALID_ARG3) { return WithTimeout0(w, Dup); }
ACTION(dat_ep_dup_connect, INVALID_PARAMETER, INVALID_ARG4) { return WithLongData(w, Dup); }
ACTION(dat_ep_dup_connect, INVALID_PARAMETER, INVALID_ARG5) { return WithNullData(w, Dup); }
ACTION(dat_ep_dup_connect, INVALID_STATE, INVALID_STATE_EP_UNCONNECTED) {
  return Dup(w, NewEp(w), {});  // its model is not connected
}
ACTION(dat_ep_dup_connect, INVALID_STATE, INVALID_STATE_EP_CONNECTED) {
  w.Connected();
  return Dup(w, w.ep(), {});
}
ACTION(dat_ep_dup_connect, MODEL_NOT_SUPPORTED, NO_SUBTYPE) { return WithOddQos(w, Dup); }

ACTION(dat_ep_common_connect, SUCCESS, NO_SUBTYPE) { return Common(w, w.ep(), {}); }
ACTION(dat_ep_common_connect, INVALID_HANDLE, INVALID_HANDLE_EP) {
  return w.EachBad([&w](DAT_HANDLE h) { return Common(w, h, {}); });
}
ACTION(dat_ep_common_connect, INVALID_PARAMETER, INVALID_ARG2) {
  return dat_ep_common_connect(w.ep(), nullptr, kSecondUs, 0, nullptr);
}
ACTION(dat_ep_common_connect, INVALID_PARAMETER, INVALID_ARG3) { return WithTimeout0(w, Common); }
ACTION(dat_ep_common_connect, INVALID_PARAMETER, INVALID_ARG4) { return WithLongData(w, Common); }
ACTION(dat_ep_common_connect, INVALID_PARAMETER, INVALID_ARG5) { return WithNullData(w, Common); }
ACTION(dat_ep_common_connect, INVALID_STATE, INVALID_STATE_EP_CONNECTED) {
  w.Connected();
  return Common(w, w.ep(), {});
}
ACTION(dat_ep_common_connect, INVALID_ADDRESS, INVALID_ADDRESS_UNSUPPORTED) {
  sockaddr bad = OfFamily(AF_UNIX);
  return dat_ep_common_connect(w.ep(), &bad, kSecondUs, 0, nullptr);
}

ACTION(dat_ep_common_connect, INVALID_ADDRESS, INVALID_ADDRESS_MALFORMED) {
  sockaddr bad = OfFamily(AF_UNSPEC);
  return dat_ep_common_connect(w.ep(), &bad, kSecondUs, 0, nullptr);
}

ACTION(dat_ep_disconnect, SUCCESS, NO_SUBTYPE) {
  w.Connected();
  return dat_ep_disconnect(w.ep(), DAT_CLOSE_ABRUPT_FLAG);
}
ACTION(dat_ep_disconnect, INVALID_HANDLE, INVALID_HANDLE_EP) {
  return w.EachBad([](DAT_HANDLE h) { return dat_ep_disconnect(h, DAT_CLOSE_ABRUPT_FLAG); });
}
ACTION(dat_ep_disconnect, INVALID_PARAMETER, INVALID_ARG2) {
  return dat_ep_disconnect(w.ep(), static_cast<DAT_CLOSE_FLAGS>(7));
}
ACTION(dat_ep_disconnect, INVALID_STATE, INVALID_STATE_EP_UNCONNECTED) {
  return dat_ep_disconnect(w.ep(), DAT_CLOSE_ABRUPT_FLAG);
}

ACTION(dat_psp_create, SUCCESS, NO_SUBTYPE) {
  EXPECT_OK(CreatePsp(w, w.FreeQualifier(), w.a().cr_evd, DAT_PSP_PROVIDER_FLAG));
  return CreatePsp(w, w.FreeQualifier(), w.a().cr_evd, DAT_PSP_CONSUMER_FLAG);
}
ACTION(dat_psp_create, INVALID_HANDLE, INVALID_HANDLE_IA) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  return w.EachBadIa([&](DAT_HANDLE h) {
    return dat_psp_create(h, 5000, w.a().cr_evd, DAT_PSP_CONSUMER_FLAG, &psp);
  });
}
ACTION(dat_psp_create, INVALID_HANDLE, INVALID_HANDLE_EVD_CR) {
  EXPECT_RETURN(CreatePsp(w, w.FreeQualifier(), w.a().recv_evd, DAT_PSP_CONSUMER_FLAG),
                BadHandle(DAT_INVALID_HANDLE_EVD_CR));
  return w.EachBad(
      [&w](DAT_HANDLE h) { return CreatePsp(w, w.FreeQualifier(), h, DAT_PSP_CONSUMER_FLAG); });
}
ACTION(dat_psp_create, INVALID_PARAMETER, INVALID_ARG2) {
  return CreatePsp(w, 0, w.a().cr_evd, DAT_PSP_CONSUMER_FLAG);
}
ACTION(dat_psp_create, INVALID_PARAMETER, INVALID_ARG4) {
  return CreatePsp(w, w.FreeQualifier(), w.a().cr_evd, 9);
}
ACTION(dat_psp_create, INVALID_PARAMETER, INVALID_ARG5) {
  return CreatePsp(w, w.FreeQualifier(), w.a().cr_evd, DAT_PSP_CONSUMER_FLAG, false);
}
ACTION(dat_psp_create, CONN_QUAL_IN_USE, NO_SUBTYPE) {
  DAT_PSP_PARAM param{};
  EXPECT_OK(dat_psp_query(w.Psp(), DAT_PSP_FIELD_ALL, &param));
  return CreatePsp(w, param.conn_qual, w.a().cr_evd, DAT_PSP_CONSUMER_FLAG);
}
ACTION(dat_psp_create_any, SUCCESS, NO_SUBTYPE) {
  return CreateAny(w, w.a().cr_evd, DAT_PSP_CONSUMER_FLAG);
}
ACTION(dat_psp_create_any, INVALID_HANDLE, INVALID_HANDLE_IA) {
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  return w.EachBadIa([&](DAT_HANDLE h) {
    return dat_psp_create_any(h, &qualifier, w.a().cr_evd, DAT_PSP_CONSUMER_FLAG, &psp);
  });
}
ACTION(dat_psp_create_any, INVALID_HANDLE, INVALID_HANDLE_EVD_CR) {
  return w.EachBad([&w](DAT_HANDLE h) { return CreateAny(w, h, DAT_PSP_CONSUMER_FLAG); });
}
ACTION(dat_psp_create_any, INVALID_PARAMETER, INVALID_ARG2) {
  return CreateAny(w, w.a().cr_evd, DAT_PSP_CONSUMER_FLAG, false);
}
ACTION(dat_psp_create_any, INVALID_PARAMETER, INVALID_ARG4) {
  return CreateAny(w, w.a().cr_evd, 9);
}
ACTION(dat_psp_create_any, INVALID_PARAMETER, INVALID_ARG5) {
  return CreateAny(w, w.a().cr_evd, DAT_PSP_CONSUMER_FLAG, true, false);
}

// Query and free are alike for the three kinds.
#define SERVICE_POINT_ACTIONS(kind, KIND, Kind)                                                \
  ACTION(dat_##kind##_query, SUCCESS, NO_SUBTYPE) {                                            \
    DAT_##KIND##_PARAM param{};                                                                \
    return dat_##kind##_query(w.Kind(), DAT_##KIND##_FIELD_ALL, &param);                       \
  }                                                                                            \
  ACTION(dat_##kind##_query, INVALID_HANDLE, INVALID_HANDLE_##KIND) {                          \
    DAT_##KIND##_PARAM param{};                                                                \
    return w.EachBad(                                                                          \
        [&](DAT_HANDLE h) { return dat_##kind##_query(h, DAT_##KIND##_FIELD_ALL, &param); });  \
  }                                                                                            \
  ACTION(dat_##kind##_query, INVALID_PARAMETER, INVALID_ARG2) {                                \
    DAT_##KIND##_PARAM param{};                                                                \
    return dat_##kind##_query(w.Kind(), static_cast<DAT_##KIND##_PARAM_MASK>(0x4000), &param); \
  }                                                                                            \
  ACTION(dat_##kind##_query, INVALID_PARAMETER, INVALID_ARG3) {                                \
    return dat_##kind##_query(w.Kind(), DAT_##KIND##_FIELD_ALL, nullptr);                      \
  }                                                                                            \
  ACTION(dat_##kind##_free, INVALID_HANDLE, INVALID_HANDLE_##KIND) {                           \
    return w.EachBad(dat_##kind##_free);                                                       \
  }
SERVICE_POINT_ACTIONS(psp, PSP, Psp)
SERVICE_POINT_ACTIONS(rsp, RSP, Rsp)
SERVICE_POINT_ACTIONS(csp, CSP, Csp)
ACTION(dat_psp_free, SUCCESS, NO_SUBTYPE) {
  return CreateAny(w, w.a().cr_evd, DAT_PSP_CONSUMER_FLAG);
}
ACTION(dat_rsp_free, SUCCESS, NO_SUBTYPE) {
  return CreateRsp(w, w.FreeQualifier(), w.ep(), w.a().cr_evd);
}
ACTION(dat_csp_free, SUCCESS, NO_SUBTYPE) { return CreateCsp(w, 0, FreePort(w), w.a().cr_evd); }

ACTION(dat_rsp_create, SUCCESS, NO_SUBTYPE) {
  return CreateRsp(w, w.FreeQualifier(), w.ep(), w.a().cr_evd);
}
ACTION(dat_rsp_create, INVALID_HANDLE, INVALID_HANDLE_IA) {
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  return w.EachBadIa(
      [&](DAT_HANDLE h) { return dat_rsp_create(h, 5000, w.ep(), w.a().cr_evd, &rsp); });
}
ACTION(dat_rsp_create, INVALID_HANDLE, INVALID_HANDLE_EP) {
  return w.EachBad([&w](DAT_HANDLE h) { return CreateRsp(w, w.FreeQualifier(), h, w.a().cr_evd); },
                   false);
}
ACTION(dat_rsp_create, INVALID_HANDLE, INVALID_HANDLE_EVD_CR) {
  return w.EachBad([&w](DAT_HANDLE h) { return CreateRsp(w, w.FreeQualifier(), w.ep(), h); });
}
ACTION(dat_rsp_create, INVALID_PARAMETER, INVALID_ARG2) {
  return CreateRsp(w, 0, w.ep(), w.a().cr_evd);
}
ACTION(dat_rsp_create, INVALID_PARAMETER, INVALID_ARG5) {
  return dat_rsp_create(w.a().ia, w.FreeQualifier(), w.ep(), w.a().cr_evd, nullptr);
}
ACTION(dat_rsp_create, INVALID_STATE, INVALID_STATE_EP_RESERVED) {
  w.Rsp();
  return CreateRsp(w, w.FreeQualifier(), w.ep(), w.a().cr_evd);
}
ACTION(dat_rsp_create, CONN_QUAL_IN_USE, NO_SUBTYPE) {
  DAT_PSP_PARAM param{};
  EXPECT_OK(dat_psp_query(w.Psp(), DAT_PSP_FIELD_ALL, &param));
  return CreateRsp(w, param.conn_qual, w.ep(), w.a().cr_evd);
}

ACTION(dat_csp_create, SUCCESS, NO_SUBTYPE) { return CreateCsp(w, 0, FreePort(w), w.a().cr_evd); }
ACTION(dat_csp_create, INVALID_HANDLE, INVALID_HANDLE_IA) {
  DAT_IA_ADDRESS_PTR at = w.SocketAddress(FreePort(w));
  DAT_COMM comm{at->sa_family, SOCK_STREAM, 0};
  DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
  return w.EachBadIa(
      [&](DAT_HANDLE h) { return dat_csp_create(h, &comm, at, w.a().cr_evd, &csp); });
}
ACTION(dat_csp_create, INVALID_HANDLE, INVALID_HANDLE_EVD_CR) {
  return w.EachBad([&w](DAT_HANDLE h) { return CreateCsp(w, 0, FreePort(w), h); });
}
ACTION(dat_csp_create, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
  return dat_csp_create(w.a().ia, nullptr, w.SocketAddress(1), w.a().cr_evd, &csp);
}
ACTION(dat_csp_create, INVALID_PARAMETER, INVALID_ARG3) {
  DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
  DAT_COMM comm{AF_INET, SOCK_STREAM, 0};
  return dat_csp_create(w.a().ia, &comm, nullptr, w.a().cr_evd, &csp);
}
ACTION(dat_csp_create, INVALID_PARAMETER, INVALID_ARG5) {
  DAT_IA_ADDRESS_PTR at = w.SocketAddress(FreePort(w));
  DAT_COMM comm{at->sa_family, SOCK_STREAM, 0};
  return dat_csp_create(w.a().ia, &comm, at, w.a().cr_evd, nullptr);
}
ACTION(dat_csp_create, PORT_IN_USE, NO_SUBTYPE) {
  const uint16_t port = FreePort(w);
  DAT_IA_ADDRESS_PTR at = w.SocketAddress(port);
  DAT_COMM comm{at->sa_family, SOCK_STREAM, 0};
  DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
  EXPECT_OK(dat_csp_create(w.a().ia, &comm, at, w.a().cr_evd, &csp));
  const DAT_RETURN ret = CreateCsp(w, 0, port, w.a().cr_evd);
  EXPECT_OK(dat_csp_free(csp));
  return ret;
}
ACTION(dat_csp_create, COMM_NOT_SUPPORTED, NO_SUBTYPE) {
  return CreateCsp(w, 17, FreePort(w), w.a().cr_evd);
}

ACTION(dat_cr_query, SUCCESS, NO_SUBTYPE) {
  DAT_CR_PARAM param{};
  return dat_cr_query(w.Request(), DAT_CR_FIELD_ALL, &param);
}
ACTION(dat_cr_query, INVALID_HANDLE, INVALID_HANDLE_CR) {
  DAT_CR_PARAM param{};
  return w.EachBad([&](DAT_HANDLE h) { return dat_cr_query(h, DAT_CR_FIELD_ALL, &param); });
}
ACTION(dat_cr_query, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_CR_PARAM param{};
  return dat_cr_query(w.Request(), static_cast<DAT_CR_PARAM_MASK>(0x4000), &param);
}
ACTION(dat_cr_query, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_cr_query(w.Request(), DAT_CR_FIELD_ALL, nullptr);
}
ACTION(dat_cr_accept, SUCCESS, NO_SUBTYPE) {
  return dat_cr_accept(w.Request(), w.b().ep, 0, nullptr);
}
ACTION(dat_cr_accept, INVALID_HANDLE, INVALID_HANDLE_CR) {
  return w.EachBad([&w](DAT_HANDLE h) { return dat_cr_accept(h, w.b().ep, 0, nullptr); });
}
ACTION(dat_cr_accept, INVALID_HANDLE, INVALID_HANDLE_EP) {
  const DAT_CR_HANDLE cr = w.Request();
  EXPECT_RETURN(dat_cr_accept(cr, w.ep(), 0, nullptr), BadHandle(DAT_INVALID_HANDLE_EP))
      << "an EP of another open";
  return w.EachBad([cr](DAT_HANDLE h) { return dat_cr_accept(cr, h, 0, nullptr); });
}
ACTION(dat_cr_accept, INVALID_PARAMETER, INVALID_ARG3) {
  const DAT_CR_HANDLE cr = w.Request();
  EXPECT_RETURN(dat_cr_accept(cr, w.b().ep, -1, data), BadArgument(3));
  return dat_cr_accept(cr, w.b().ep, sizeof data, data);
}
ACTION(dat_cr_accept, INVALID_PARAMETER, INVALID_ARG4) {
  return dat_cr_accept(w.Request(), w.b().ep, 4, nullptr);
}
ACTION(dat_cr_accept, INVALID_STATE, INVALID_STATE_EP_RESERVED) {
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  EXPECT_OK(dat_rsp_create(w.b().ia, w.FreeQualifier(), w.b().ep, w.b().cr_evd, &rsp));
  const DAT_RETURN ret = dat_cr_accept(w.Request(), w.b().ep, 0, nullptr);
  EXPECT_OK(dat_rsp_free(rsp));
  return ret;
}
ACTION(dat_cr_reject, SUCCESS, NO_SUBTYPE) { return dat_cr_reject(w.Request(), 0, nullptr); }
ACTION(dat_cr_reject, INVALID_HANDLE, INVALID_HANDLE_CR) {
  return w.EachBad([](DAT_HANDLE h) { return dat_cr_reject(h, 0, nullptr); });
}
ACTION(dat_cr_reject, INVALID_PARAMETER, INVALID_ARG2) {
  return dat_cr_reject(w.Request(), sizeof data, data);
}
ACTION(dat_cr_reject, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_cr_reject(w.Request(), 4, nullptr);
}
ACTION(dat_cr_handoff, SUCCESS, NO_SUBTYPE) {
  const DAT_CR_HANDLE cr = w.Request();
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE other = w.Listen(w.b(), &qualifier);
  w.Later([other] { EXPECT_OK(dat_psp_free(other)); });
  return dat_cr_handoff(cr, qualifier);
}
ACTION(dat_cr_handoff, INVALID_HANDLE, INVALID_HANDLE_CR) {
  return w.EachBad([](DAT_HANDLE h) { return dat_cr_handoff(h, 5); });
}
ACTION(dat_cr_handoff, INVALID_PARAMETER, INVALID_ARG2) {
  const DAT_CR_HANDLE cr = w.Request();  // first: its qualifier is not the free one
  return dat_cr_handoff(cr, w.FreeQualifier());
}
ACTION(dat_cr_handoff, INSUFFICIENT_RESOURCES, RESOURCE_TEVD) {
  const DAT_CR_HANDLE first = w.Request();
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = w.Listen(w.b(), &qualifier);
  EXPECT_OK(w.Connect(w.a().MakeEp(), qualifier));
  const DAT_CR_HANDLE second = w.NextRequest(w.b());
  const DAT_EVD_HANDLE small = w.b().MakeEvd(DAT_EVD_CR_FLAG, 1);
  DAT_CONN_QUAL full = 0;
  DAT_PSP_HANDLE other = DAT_HANDLE_NULL;
  EXPECT_OK(dat_psp_create_any(w.b().ia, &full, small, DAT_PSP_CONSUMER_FLAG, &other));
  EXPECT_OK(dat_cr_handoff(first, full));
  w.Later([=, &w] {
    const DAT_EVENT event = w.b().Expect(small, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_OK(dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, nullptr));
    EXPECT_OK(dat_cr_reject(second, 0, nullptr));  // has stayed as it was
    EXPECT_OK(dat_psp_free(psp));
    EXPECT_OK(dat_psp_free(other));
  });
  return dat_cr_handoff(second, full);
}

}  // namespace softdat::conformance
