// SPDX-License-Identifier: BSD-3-Clause
// Actions of the return code table: registry and IA.
#include <cstring>

#include "dat2/dat_registry.h"
#include "tests/conformance/return_cells.h"

namespace softdat::conformance {
namespace {

std::string Name() { return TheOptions().ia; }

DAT_RETURN Open(const char* name, DAT_COUNT qlen, DAT_UINT32 major = DAT_VERSION_MAJOR,
                DAT_UINT32 minor = DAT_VERSION_MINOR) {
  std::string copy = name;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  const DAT_RETURN ret = dat_ia_openv(copy.data(), qlen, &async, &ia, major, minor, DAT_FALSE);
  if (ret == DAT_SUCCESS) {
    EXPECT_OK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
  }
  return ret;
}

DAT_RETURN QueryIa(World& w, DAT_IA_ATTR_MASK ia_mask, bool ia_attr, DAT_PROVIDER_ATTR_MASK mask,
                   bool attr) {
  DAT_IA_ATTR ia{};
  DAT_PROVIDER_ATTR provider{};
  return dat_ia_query(w.a().ia, nullptr, ia_mask, ia_attr ? &ia : nullptr, mask,
                      attr ? &provider : nullptr);
}

// A provider without a library, for the dynamic registry.
DAT_PROVIDER* Table() {
  static DAT_PROVIDER table{};
  return &table;
}
DAT_PROVIDER_INFO Info(const char* name) {
  DAT_PROVIDER_INFO info{};
  std::strncpy(info.ia_name, name, sizeof info.ia_name - 1);
  info.dapl_version_major = 2;
  return info;
}

DAT_RETURN Related(const char* one, const char* two, bool out = true) {
  std::string first = one == nullptr ? "" : one, second = two == nullptr ? "" : two;
  DAT_HA_RELATIONSHIP related{};
  return dat_registry_providers_related(one == nullptr ? nullptr : first.data(),
                                        two == nullptr ? nullptr : second.data(),
                                        out ? &related : nullptr);
}

DAT_RETURN List(DAT_COUNT max, DAT_COUNT* count) {
  std::vector<DAT_PROVIDER_INFO> infos(static_cast<size_t>(max));
  std::vector<DAT_PROVIDER_INFO*> list;
  for (DAT_PROVIDER_INFO& info : infos) list.push_back(&info);
  return dat_registry_list_providers(max, count, list.data());
}

}  // namespace

ACTION(dat_ia_openv, SUCCESS, NO_SUBTYPE) { return Open(Name().c_str(), 8); }
ACTION(dat_ia_openv, INVALID_PARAMETER, INVALID_ARG1) {
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  const DAT_RETURN ret = dat_ia_openv(nullptr, 8, &async, &ia, 2, 0, DAT_FALSE);
  EXPECT_RETURN(Open(std::string(256, 'x').c_str(), 8), ret);
  return ret;
}
ACTION(dat_ia_openv, INVALID_PARAMETER, INVALID_ARG2) {
  EXPECT_RETURN(Open(Name().c_str(), -1), BadArgument(2));
  return Open(Name().c_str(), 0);
}
ACTION(dat_ia_openv, INVALID_PARAMETER, INVALID_ARG3) {
  std::string name = Name();
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  return dat_ia_openv(name.data(), 8, nullptr, &ia, 2, 0, DAT_FALSE);
}
ACTION(dat_ia_openv, INVALID_HANDLE, INVALID_HANDLE_IA) {
  std::string name = Name();
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  return dat_ia_openv(name.data(), 8, &async, nullptr, 2, 0, DAT_FALSE);
}
ACTION(dat_ia_openv, INVALID_HANDLE, INVALID_HANDLE_EVD_ASYNC) {
  std::string name = Name();
  DAT_EVD_HANDLE async = w.a().pz;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  return dat_ia_openv(name.data(), 8, &async, &ia, 2, 0, DAT_FALSE);
}
ACTION(dat_ia_openv, PROVIDER_NOT_FOUND, NAME_NOT_REGISTERED) { return Open("no-such-ia", 8); }
ACTION(dat_ia_openv, PROVIDER_NOT_FOUND, MAJOR_NOT_FOUND) { return Open(Name().c_str(), 8, 7, 0); }
ACTION(dat_ia_openv, PROVIDER_NOT_FOUND, MINOR_NOT_FOUND) { return Open(Name().c_str(), 8, 2, 99); }

ACTION(dat_ia_close, SUCCESS, NO_SUBTYPE) { return Open(Name().c_str(), 8); }
ACTION(dat_ia_close, INVALID_HANDLE, INVALID_HANDLE_IA) {
  return w.EachBadIa([](DAT_HANDLE h) { return dat_ia_close(h, DAT_CLOSE_ABRUPT_FLAG); });
}
ACTION(dat_ia_close, INVALID_PARAMETER, INVALID_ARG2) {
  return dat_ia_close(w.a().ia, static_cast<DAT_CLOSE_FLAGS>(2));
}
ACTION(dat_ia_close, INVALID_STATE, INVALID_STATE_IA_IN_USE) {
  return dat_ia_close(w.a().ia, DAT_CLOSE_GRACEFUL_FLAG);
}

ACTION(dat_ia_query, SUCCESS, NO_SUBTYPE) {
  return QueryIa(w, DAT_IA_FIELD_ALL, true, DAT_PROVIDER_FIELD_ALL, true);
}
ACTION(dat_ia_query, INVALID_HANDLE, INVALID_HANDLE_IA) {
  return w.EachBadIa([](DAT_HANDLE h) { return dat_ia_query(h, nullptr, 0, nullptr, 0, nullptr); });
}
ACTION(dat_ia_query, INVALID_PARAMETER, INVALID_ARG3) {
  return QueryIa(w, DAT_IA_FIELD_ALL + UINT64_C(1), true, 0, true);
}
ACTION(dat_ia_query, INVALID_PARAMETER, INVALID_ARG4) {
  return QueryIa(w, DAT_IA_FIELD_ALL, false, 0, true);
}
ACTION(dat_ia_query, INVALID_PARAMETER, INVALID_ARG5) {
  return QueryIa(w, 0, true, ~DAT_PROVIDER_ATTR_MASK{0}, true);
}
ACTION(dat_ia_query, INVALID_PARAMETER, INVALID_ARG6) {
  return QueryIa(w, 0, true, DAT_PROVIDER_FIELD_ALL, false);
}

ACTION(dat_set_consumer_context, SUCCESS, NO_SUBTYPE) {
  return dat_set_consumer_context(w.ep(), DAT_CONTEXT{});
}
ACTION(dat_set_consumer_context, INVALID_HANDLE, INVALID_HANDLE1) {
  return w.EachBad([](DAT_HANDLE h) { return dat_set_consumer_context(h, DAT_CONTEXT{}); });
}
ACTION(dat_get_consumer_context, SUCCESS, NO_SUBTYPE) {
  DAT_CONTEXT context{};
  return dat_get_consumer_context(w.ep(), &context);
}
ACTION(dat_get_consumer_context, INVALID_HANDLE, INVALID_HANDLE1) {
  DAT_CONTEXT context{};
  return w.EachBad([&context](DAT_HANDLE h) { return dat_get_consumer_context(h, &context); });
}
ACTION(dat_get_consumer_context, INVALID_PARAMETER, INVALID_ARG2) {
  return dat_get_consumer_context(w.ep(), nullptr);
}
ACTION(dat_get_handle_type, SUCCESS, NO_SUBTYPE) {
  DAT_HANDLE_TYPE type{};
  return dat_get_handle_type(w.ep(), &type);
}
ACTION(dat_get_handle_type, INVALID_HANDLE, INVALID_HANDLE1) {
  DAT_HANDLE_TYPE type{};
  return w.EachBad([&type](DAT_HANDLE h) { return dat_get_handle_type(h, &type); });
}
ACTION(dat_get_handle_type, INVALID_PARAMETER, INVALID_ARG2) {
  return dat_get_handle_type(w.ep(), nullptr);
}

ACTION(dat_registry_list_providers, SUCCESS, NO_SUBTYPE) {
  DAT_COUNT count = 0;
  return List(1024, &count);
}
ACTION(dat_registry_list_providers, INVALID_PARAMETER, INVALID_ARG1) {
  DAT_COUNT all = 0, count = 0;
  EXPECT_OK(List(1024, &all));
  const DAT_RETURN ret = List(0, &count);
  EXPECT_EQ(count, all) << "it says how many there are";
  return ret;
}
ACTION(dat_registry_list_providers, INVALID_PARAMETER, INVALID_ARG2) { return List(1024, nullptr); }
ACTION(dat_registry_list_providers, INVALID_PARAMETER, INVALID_ARG3) {
  DAT_COUNT count = 0;
  return dat_registry_list_providers(64, &count, nullptr);
}

ACTION(dat_registry_add_provider, SUCCESS, NO_SUBTYPE) {
  const DAT_PROVIDER_INFO info = Info("cells-1");
  const DAT_RETURN ret = dat_registry_add_provider(Table(), &info);
  EXPECT_OK(dat_registry_remove_provider(Table(), &info));
  return ret;
}
ACTION(dat_registry_add_provider, INVALID_PARAMETER, INVALID_ARG1) {
  const DAT_PROVIDER_INFO info = Info("cells-1");
  return dat_registry_add_provider(nullptr, &info);
}
ACTION(dat_registry_add_provider, INVALID_PARAMETER, INVALID_ARG2) {
  return dat_registry_add_provider(Table(), nullptr);
}
ACTION(dat_registry_add_provider, PROVIDER_ALREADY_REGISTERED, NO_SUBTYPE) {
  const DAT_PROVIDER_INFO info = Info("cells-1");
  EXPECT_OK(dat_registry_add_provider(Table(), &info));
  const DAT_RETURN ret = dat_registry_add_provider(Table(), &info);
  EXPECT_OK(dat_registry_remove_provider(Table(), &info));
  return ret;
}
ACTION(dat_registry_remove_provider, SUCCESS, NO_SUBTYPE) {
  const DAT_PROVIDER_INFO info = Info("cells-1");
  EXPECT_OK(dat_registry_add_provider(Table(), &info));
  return dat_registry_remove_provider(Table(), &info);
}
ACTION(dat_registry_remove_provider, INVALID_PARAMETER, INVALID_ARG2) {
  return dat_registry_remove_provider(Table(), nullptr);
}
ACTION(dat_registry_remove_provider, INVALID_PARAMETER, INVALID_ARG1) {
  const DAT_PROVIDER_INFO info = Info("cells-1");
  return dat_registry_remove_provider(nullptr, &info);
}
ACTION(dat_registry_remove_provider, PROVIDER_NOT_FOUND, NAME_NOT_REGISTERED) {
  const DAT_PROVIDER_INFO info = Info("cells-2");
  return dat_registry_remove_provider(Table(), &info);
}
ACTION(dat_registry_remove_provider, PROVIDER_IN_USE, NO_SUBTYPE) {
  DAT_PROVIDER_ATTR attr{};
  EXPECT_OK(dat_ia_query(w.a().ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr));
  DAT_PROVIDER_INFO info = Info(attr.provider_name);
  info.dapl_version_major = attr.dapl_version_major;
  info.dapl_version_minor = attr.dapl_version_minor;
  info.is_thread_safe = attr.is_thread_safe;
  return dat_registry_remove_provider(DAT_HANDLE_TO_PROVIDER(w.a().pz), &info);
}

ACTION(dat_registry_providers_related, SUCCESS, NO_SUBTYPE) {
  return Related(Name().c_str(), Name().c_str());
}
ACTION(dat_registry_providers_related, INVALID_PARAMETER, INVALID_ARG1) {
  return Related(nullptr, Name().c_str());
}
ACTION(dat_registry_providers_related, INVALID_PARAMETER, INVALID_ARG2) {
  return Related(Name().c_str(), nullptr);
}
ACTION(dat_registry_providers_related, INVALID_PARAMETER, INVALID_ARG3) {
  return Related(Name().c_str(), Name().c_str(), false);
}
ACTION(dat_registry_providers_related, PROVIDER_NOT_FOUND, NAME_NOT_REGISTERED) {
  return Related(Name().c_str(), "no-such-ia");
}

ACTION(dat_strerror, SUCCESS, NO_SUBTYPE) {
  const char *major = nullptr, *minor = nullptr;
  return dat_strerror(BadArgument(1), &major, &minor);
}
ACTION(dat_strerror, INVALID_PARAMETER, INVALID_ARG1) {
  const char *major = nullptr, *minor = nullptr;
  const DAT_RETURN ret = dat_strerror(0x3f000000, &major, &minor);
  EXPECT_NE(major, nullptr);
  EXPECT_NE(minor, nullptr);
  return ret;
}

}  // namespace softdat::conformance
