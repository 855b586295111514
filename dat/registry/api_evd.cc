// SPDX-License-Identifier: BSD-3-Clause
// dat_evd_*, dat_cno_*: event dispatchers and notification objects.
#include "dat/registry/dispatch.h"

using namespace softdat::registry;  // NOLINT: this file is the C API of the registry

DAT_RETURN dat_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT evd_min_qlen,
                          DAT_CNO_HANDLE cno_handle, DAT_EVD_FLAGS evd_flags,
                          DAT_EVD_HANDLE* evd_handle) {
  return CallIa<&DAT_PROVIDER::evd_create_func>("dat_evd_create", ia_handle, evd_min_qlen,
                                                cno_handle, evd_flags, evd_handle);
}

DAT_RETURN dat_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK evd_param_mask,
                         DAT_EVD_PARAM* evd_param) {
  return CallObject<&DAT_PROVIDER::evd_query_func, DAT_INVALID_HANDLE_EVD_REQUEST>(
      "dat_evd_query", evd_handle, evd_param_mask, evd_param);
}

DAT_RETURN dat_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle) {
  return CallObject<&DAT_PROVIDER::evd_modify_cno_func, DAT_INVALID_HANDLE_EVD_REQUEST>(
      "dat_evd_modify_cno", evd_handle, cno_handle);
}

DAT_RETURN dat_evd_enable(DAT_EVD_HANDLE evd_handle) {
  return CallObject<&DAT_PROVIDER::evd_enable_func, DAT_INVALID_HANDLE_EVD_REQUEST>(
      "dat_evd_enable", evd_handle);
}

DAT_RETURN dat_evd_disable(DAT_EVD_HANDLE evd_handle) {
  return CallObject<&DAT_PROVIDER::evd_disable_func, DAT_INVALID_HANDLE_EVD_REQUEST>(
      "dat_evd_disable", evd_handle);
}

DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout_us, DAT_COUNT threshold,
                        DAT_EVENT* event, DAT_COUNT* nmore) {
  return CallDataPath<"dat_evd_wait", &DAT_PROVIDER::evd_wait_func, DAT_INVALID_HANDLE_EVD_REQUEST>(
      evd_handle, timeout_us, threshold, event, nmore);
}

DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT* event) {
  return CallDataPath<"dat_evd_dequeue", &DAT_PROVIDER::evd_dequeue_func,
                      DAT_INVALID_HANDLE_EVD_REQUEST>(evd_handle, event);
}

DAT_RETURN dat_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen) {
  return CallObject<&DAT_PROVIDER::evd_resize_func, DAT_INVALID_HANDLE_EVD_REQUEST>(
      "dat_evd_resize", evd_handle, evd_min_qlen);
}

DAT_RETURN dat_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT* event) {
  return CallObject<&DAT_PROVIDER::evd_post_se_func, DAT_INVALID_HANDLE_EVD_REQUEST>(
      "dat_evd_post_se", evd_handle, event);
}

DAT_RETURN dat_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle) {
  return CallObject<&DAT_PROVIDER::evd_set_unwaitable_func, DAT_INVALID_HANDLE_EVD_REQUEST>(
      "dat_evd_set_unwaitable", evd_handle);
}

DAT_RETURN dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle) {
  return CallObject<&DAT_PROVIDER::evd_clear_unwaitable_func, DAT_INVALID_HANDLE_EVD_REQUEST>(
      "dat_evd_clear_unwaitable", evd_handle);
}

DAT_RETURN dat_evd_free(DAT_EVD_HANDLE evd_handle) {
  return CallLast<&DAT_PROVIDER::evd_free_func, DAT_INVALID_HANDLE_EVD_REQUEST>("dat_evd_free",
                                                                                evd_handle);
}

DAT_RETURN dat_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                          DAT_CNO_HANDLE* cno_handle) {
  return CallIa<&DAT_PROVIDER::cno_create_func>("dat_cno_create", ia_handle, agent, cno_handle);
}

DAT_RETURN dat_cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD* file_descriptor,
                             DAT_CNO_HANDLE* cno_handle) {
  return CallIa<&DAT_PROVIDER::cno_fd_create_func>("dat_cno_fd_create", ia_handle, file_descriptor,
                                                   cno_handle);
}

DAT_RETURN dat_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK cno_param_mask,
                         DAT_CNO_PARAM* cno_param) {
  return CallObject<&DAT_PROVIDER::cno_query_func, DAT_INVALID_HANDLE_CNO>(
      "dat_cno_query", cno_handle, cno_param_mask, cno_param);
}

DAT_RETURN dat_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent) {
  return CallObject<&DAT_PROVIDER::cno_modify_agent_func, DAT_INVALID_HANDLE_CNO>(
      "dat_cno_modify_agent", cno_handle, agent);
}

DAT_RETURN dat_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout_us,
                        DAT_EVD_HANDLE* evd_handle) {
  return CallObject<&DAT_PROVIDER::cno_wait_func, DAT_INVALID_HANDLE_CNO>(
      "dat_cno_wait", cno_handle, timeout_us, evd_handle);
}

DAT_RETURN dat_cno_trigger(DAT_CNO_HANDLE cno_handle, DAT_EVD_HANDLE* evd_handle) {
  return CallObject<&DAT_PROVIDER::cno_trigger_func, DAT_INVALID_HANDLE_CNO>(
      "dat_cno_trigger", cno_handle, evd_handle);
}

DAT_RETURN dat_cno_free(DAT_CNO_HANDLE cno_handle) {
  return CallLast<&DAT_PROVIDER::cno_free_func, DAT_INVALID_HANDLE_CNO>("dat_cno_free", cno_handle);
}
