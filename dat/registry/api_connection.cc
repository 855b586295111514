// SPDX-License-Identifier: BSD-3-Clause
// Connections: dat_ep_connect and its kin, connection requests, service points.
#include "dat/registry/dispatch.h"

using namespace softdat::registry;  // NOLINT: this file is the C API of the registry

DAT_RETURN dat_ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address,
                          DAT_CONN_QUAL remote_conn_qual, DAT_TIMEOUT timeout_us,
                          DAT_COUNT private_data_size, const DAT_PVOID private_data,
                          DAT_QOS quality_of_service, DAT_CONNECT_FLAGS connect_flags) {
  return CallObject<&DAT_PROVIDER::ep_connect_func, DAT_INVALID_HANDLE_EP>(
      "dat_ep_connect", ep_handle, remote_ia_address, remote_conn_qual, timeout_us,
      private_data_size, private_data, quality_of_service, connect_flags);
}

DAT_RETURN dat_ep_common_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address,
                                 DAT_TIMEOUT timeout_us, DAT_COUNT private_data_size,
                                 const DAT_PVOID private_data) {
  return CallObject<&DAT_PROVIDER::ep_common_connect_func, DAT_INVALID_HANDLE_EP>(
      "dat_ep_common_connect", ep_handle, remote_ia_address, timeout_us, private_data_size,
      private_data);
}

DAT_RETURN dat_ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE dup_ep_handle,
                              DAT_TIMEOUT timeout_us, DAT_COUNT private_data_size,
                              const DAT_PVOID private_data, DAT_QOS quality_of_service) {
  return CallObject<&DAT_PROVIDER::ep_dup_connect_func, DAT_INVALID_HANDLE_EP>(
      "dat_ep_dup_connect", ep_handle, dup_ep_handle, timeout_us, private_data_size, private_data,
      quality_of_service);
}

DAT_RETURN dat_ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS close_flags) {
  return CallObject<&DAT_PROVIDER::ep_disconnect_func, DAT_INVALID_HANDLE_EP>(
      "dat_ep_disconnect", ep_handle, close_flags);
}

DAT_RETURN dat_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask,
                        DAT_CR_PARAM* cr_param) {
  return CallObject<&DAT_PROVIDER::cr_query_func, DAT_INVALID_HANDLE_CR>("dat_cr_query", cr_handle,
                                                                         cr_param_mask, cr_param);
}

DAT_RETURN dat_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
                         DAT_COUNT private_data_size, const DAT_PVOID private_data) {
  return CallLast<&DAT_PROVIDER::cr_accept_func, DAT_INVALID_HANDLE_CR>(
      "dat_cr_accept", cr_handle, ep_handle, private_data_size, private_data);
}

DAT_RETURN dat_cr_reject(DAT_CR_HANDLE cr_handle, DAT_COUNT private_data_size,
                         const DAT_PVOID private_data) {
  return CallLast<&DAT_PROVIDER::cr_reject_func, DAT_INVALID_HANDLE_CR>(
      "dat_cr_reject", cr_handle, private_data_size, private_data);
}

DAT_RETURN dat_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff) {
  return CallLast<&DAT_PROVIDER::cr_handoff_func, DAT_INVALID_HANDLE_CR>("dat_cr_handoff",
                                                                         cr_handle, handoff);
}

DAT_RETURN dat_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                          DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                          DAT_PSP_HANDLE* psp_handle) {
  return CallIa<&DAT_PROVIDER::psp_create_func>("dat_psp_create", ia_handle, conn_qual, evd_handle,
                                                psp_flags, psp_handle);
}

DAT_RETURN dat_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL* conn_qual,
                              DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                              DAT_PSP_HANDLE* psp_handle) {
  return CallIa<&DAT_PROVIDER::psp_create_any_func>("dat_psp_create_any", ia_handle, conn_qual,
                                                    evd_handle, psp_flags, psp_handle);
}

DAT_RETURN dat_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK psp_param_mask,
                         DAT_PSP_PARAM* psp_param) {
  return CallObject<&DAT_PROVIDER::psp_query_func, DAT_INVALID_HANDLE_PSP>(
      "dat_psp_query", psp_handle, psp_param_mask, psp_param);
}

DAT_RETURN dat_psp_free(DAT_PSP_HANDLE psp_handle) {
  return CallLast<&DAT_PROVIDER::psp_free_func, DAT_INVALID_HANDLE_PSP>("dat_psp_free", psp_handle);
}

DAT_RETURN dat_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep_handle,
                          DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE* rsp_handle) {
  return CallIa<&DAT_PROVIDER::rsp_create_func>("dat_rsp_create", ia_handle, conn_qual, ep_handle,
                                                evd_handle, rsp_handle);
}

DAT_RETURN dat_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK rsp_param_mask,
                         DAT_RSP_PARAM* rsp_param) {
  return CallObject<&DAT_PROVIDER::rsp_query_func, DAT_INVALID_HANDLE_RSP>(
      "dat_rsp_query", rsp_handle, rsp_param_mask, rsp_param);
}

DAT_RETURN dat_rsp_free(DAT_RSP_HANDLE rsp_handle) {
  return CallLast<&DAT_PROVIDER::rsp_free_func, DAT_INVALID_HANDLE_RSP>("dat_rsp_free", rsp_handle);
}

DAT_RETURN dat_csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM* comm, DAT_IA_ADDRESS_PTR ia_address,
                          DAT_EVD_HANDLE evd_handle, DAT_CSP_HANDLE* csp_handle) {
  return CallIa<&DAT_PROVIDER::csp_create_func>("dat_csp_create", ia_handle, comm, ia_address,
                                                evd_handle, csp_handle);
}

DAT_RETURN dat_csp_query(DAT_CSP_HANDLE csp_handle, DAT_CSP_PARAM_MASK csp_param_mask,
                         DAT_CSP_PARAM* csp_param) {
  return CallObject<&DAT_PROVIDER::csp_query_func, DAT_INVALID_HANDLE_CSP>(
      "dat_csp_query", csp_handle, csp_param_mask, csp_param);
}

DAT_RETURN dat_csp_free(DAT_CSP_HANDLE csp_handle) {
  return CallLast<&DAT_PROVIDER::csp_free_func, DAT_INVALID_HANDLE_CSP>("dat_csp_free", csp_handle);
}
