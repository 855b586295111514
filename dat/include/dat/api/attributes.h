/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/attributes.h: what dat_ia_query() tells about an adapter and about its provider
 * (DAT 1.2, IA attributes and provider attributes). Include dat/udat.h, not this file. */
#ifndef SOFTDAT_DAT_API_ATTRIBUTES_H_
#define SOFTDAT_DAT_API_ATTRIBUTES_H_

#include <dat/api/types.h>

SOFTDAT_BEGIN_DECLS

/* ---- the adapter ---- */

/* Totals are per adapter; sizes are bytes. */
typedef struct dat_ia_attr {
  char adapter_name[DAT_NAME_MAX_LENGTH]; /* the device */
  char vendor_name[DAT_NAME_MAX_LENGTH];
  DAT_UINT32 hardware_version_major;
  DAT_UINT32 hardware_version_minor;
  DAT_UINT32 firmware_version_major;
  DAT_UINT32 firmware_version_minor;
  DAT_IA_ADDRESS_PTR ia_address_ptr;  /* its address; memory of the provider, valid until close */
  DAT_COUNT max_eps;                  /* end points */
  DAT_COUNT max_dto_per_ep;           /* longest work queue of an EP, each direction */
  DAT_COUNT max_rdma_read_per_ep_in;  /* RDMA reads that one EP serves at a time */
  DAT_COUNT max_rdma_read_per_ep_out; /* RDMA reads that one EP issues at a time */
  DAT_COUNT max_evds;
  DAT_COUNT max_evd_qlen;
  DAT_COUNT max_iov_segments_per_dto; /* segments of a send or receive */
  DAT_COUNT max_lmrs;
  DAT_VLEN max_lmr_block_size;       /* largest region */
  DAT_VADDR max_lmr_virtual_address; /* highest address that can be registered */
  DAT_COUNT max_pzs;
  DAT_VLEN max_message_size; /* largest send */
  DAT_VLEN max_rdma_size;    /* largest RDMA */
  DAT_COUNT max_rmrs;
  DAT_VADDR max_rmr_target_address;
  DAT_COUNT max_srqs;
  DAT_COUNT max_ep_per_srq;
  DAT_COUNT max_recv_per_srq;
  DAT_COUNT max_iov_segments_per_rdma_read;
  DAT_COUNT max_iov_segments_per_rdma_write;
  DAT_COUNT max_rdma_read_in;  /* RDMA reads served at a time, all EPs together */
  DAT_COUNT max_rdma_read_out; /* the same for reads issued */
  DAT_BOOLEAN max_rdma_read_per_ep_in_guaranteed; /* is the per-EP number always available? */
  DAT_BOOLEAN max_rdma_read_per_ep_out_guaranteed;
  DAT_COUNT num_transport_attr; /* entries of transport_attr */
  DAT_NAMED_ATTR* transport_attr;
  DAT_COUNT num_vendor_attr;
  DAT_NAMED_ATTR* vendor_attr;
} DAT_IA_ATTR;

/* Older names of members. */
#define max_rdma_read_per_ep max_rdma_read_per_ep_in
#define max_mtu_size max_message_size

/* Members of DAT_IA_ATTR that the caller wants; a provider may fill in more. */
typedef DAT_UINT64 DAT_IA_ATTR_MASK;
#define DAT_IA_FIELD_NONE UINT64_C(0x0)
#define DAT_IA_FIELD_IA_ADAPTER_NAME UINT64_C(0x1)
#define DAT_IA_FIELD_IA_VENDOR_NAME UINT64_C(0x2)
#define DAT_IA_FIELD_IA_HARDWARE_MAJOR_VERSION UINT64_C(0x4)
#define DAT_IA_FIELD_IA_HARDWARE_MINOR_VERSION UINT64_C(0x8)
#define DAT_IA_FIELD_IA_FIRMWARE_MAJOR_VERSION UINT64_C(0x10)
#define DAT_IA_FIELD_IA_FIRMWARE_MINOR_VERSION UINT64_C(0x20)
#define DAT_IA_FIELD_IA_ADDRESS_PTR UINT64_C(0x40)
#define DAT_IA_FIELD_IA_MAX_EPS UINT64_C(0x80)
#define DAT_IA_FIELD_IA_MAX_DTO_PER_EP UINT64_C(0x100)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN UINT64_C(0x200)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT UINT64_C(0x400)
#define DAT_IA_FIELD_IA_MAX_EVDS UINT64_C(0x800)
#define DAT_IA_FIELD_IA_MAX_EVD_QLEN UINT64_C(0x1000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_DTO UINT64_C(0x2000)
#define DAT_IA_FIELD_IA_MAX_LMRS UINT64_C(0x4000)
#define DAT_IA_FIELD_IA_MAX_LMR_BLOCK_SIZE UINT64_C(0x8000)
#define DAT_IA_FIELD_IA_MAX_LMR_VIRTUAL_ADDRESS UINT64_C(0x10000)
#define DAT_IA_FIELD_IA_MAX_PZS UINT64_C(0x20000)
#define DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE UINT64_C(0x40000)
#define DAT_IA_FIELD_IA_MAX_RDMA_SIZE UINT64_C(0x80000)
#define DAT_IA_FIELD_IA_MAX_RMRS UINT64_C(0x100000)
#define DAT_IA_FIELD_IA_MAX_RMR_TARGET_ADDRESS UINT64_C(0x200000)
#define DAT_IA_FIELD_IA_MAX_SRQS UINT64_C(0x400000)
#define DAT_IA_FIELD_IA_MAX_EP_PER_SRQ UINT64_C(0x800000)
#define DAT_IA_FIELD_IA_MAX_RECV_PER_SRQ UINT64_C(0x1000000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_READ UINT64_C(0x2000000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_WRITE UINT64_C(0x4000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_IN UINT64_C(0x8000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_OUT UINT64_C(0x10000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN_GUARANTEED UINT64_C(0x20000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT_GUARANTEED UINT64_C(0x40000000)
#define DAT_IA_FIELD_IA_NUM_TRANSPORT_ATTR UINT64_C(0x80000000)
#define DAT_IA_FIELD_IA_TRANSPORT_ATTR UINT64_C(0x100000000)
#define DAT_IA_FIELD_IA_NUM_VENDOR_ATTR UINT64_C(0x200000000)
#define DAT_IA_FIELD_IA_VENDOR_ATTR UINT64_C(0x400000000)
#define DAT_IA_FIELD_ALL UINT64_C(0x7ffffffff)

/* Older names of masks. */
#define DAT_IA_FIELD_IA_MAX_MTU_SIZE DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE
#define DAT_IA_FIELD_IA_MAX_DTO_PER_EP_IN DAT_IA_FIELD_IA_MAX_DTO_PER_EP
#define DAT_IA_FIELD_IA_MAX_DTO_PER_OP DAT_IA_FIELD_IA_MAX_DTO_PER_EP_IN
#define DAT_IA_ALL DAT_IA_FIELD_ALL

/* ---- the provider ---- */

/* Who makes the EP of a connection that arrives at a public service point? */
typedef enum dat_ep_creator_for_psp {
  DAT_PSP_CREATES_EP_NEVER = 0x0,   /* the program */
  DAT_PSP_CREATES_EP_IFASKED = 0x1, /* as the PSP's flag says */
  DAT_PSP_CREATES_EP_ALWAYS = 0x2   /* the provider */
} DAT_EP_CREATOR_FOR_PSP;

typedef enum dat_pz_support {
  DAT_PZ_UNIQUE = 0x0,   /* one adapter */
  DAT_PZ_SHAREABLE = 0x1 /* several adapters */
} DAT_PZ_SUPPORT;

/* Kinds of memory that dat_lmr_create() takes. */
typedef enum dat_mem_type {
  DAT_MEM_TYPE_VIRTUAL = 0x0,       /* any memory of the process */
  DAT_MEM_TYPE_LMR = 0x1,           /* the memory of an existing region */
  DAT_MEM_TYPE_SHARED_VIRTUAL = 0x2 /* memory shared between processes, named by a cookie */
} DAT_MEM_TYPE;

typedef struct dat_provider_attr {
  char provider_name[DAT_NAME_MAX_LENGTH]; /* the IA name it was opened by */
  DAT_UINT32 provider_version_major;
  DAT_UINT32 provider_version_minor;
  DAT_UINT32 dapl_version_major; /* of the API; equals the registry entry */
  DAT_UINT32 dapl_version_minor;
  DAT_MEM_TYPE lmr_mem_types_supported; /* bits */
  DAT_IOV_OWNERSHIP iov_ownership_on_return;
  DAT_QOS dat_qos_supported;                       /* bits */
  DAT_COMPLETION_FLAGS completion_flags_supported; /* bits that are honoured */
  DAT_BOOLEAN is_thread_safe;
  DAT_COUNT max_private_data_size; /* bytes, in connect, accept and reject */
  DAT_BOOLEAN supports_multipath;
  DAT_EP_CREATOR_FOR_PSP ep_creator;
  DAT_PZ_SUPPORT pz_support;
  DAT_UINT32 optimal_buffer_alignment; /* bytes */
  /* may streams of kind [i] and [j] feed one EVD? order: software, connection request, DTO,
   * connection, RMR bind, asynchronous
   */
  const DAT_BOOLEAN evd_stream_merging_supported[6][6];
  DAT_BOOLEAN srq_supported;
  /* bits: 1 low watermark of SRQs, 2 soft and 4 hard high watermark of EPs */
  DAT_COUNT srq_watermarks_supported;
  DAT_BOOLEAN srq_ep_pz_difference_supported;
  DAT_COUNT srq_info_supported;            /* bits: which counts dat_srq_query() knows */
  DAT_COUNT ep_recv_info_supported;        /* bits: which counts dat_ep_recv_query() knows */
  DAT_BOOLEAN lmr_sync_req;                /* must dat_lmr_sync_rdma_* be called? */
  DAT_BOOLEAN dto_async_return_guaranteed; /* a post never blocks */
  /* does the sink of an RDMA read need remote write privilege? */
  DAT_BOOLEAN rdma_write_for_rdma_read_req;
  DAT_COUNT num_provider_specific_attr; /* entries of provider_specific_attr */
  DAT_NAMED_ATTR* provider_specific_attr;
} DAT_PROVIDER_ATTR;

/* Members of DAT_PROVIDER_ATTR that the caller wants; a provider may fill in more. */
typedef DAT_UINT64 DAT_PROVIDER_ATTR_MASK;
#define DAT_PROVIDER_FIELD_NONE UINT64_C(0x0)
#define DAT_PROVIDER_FIELD_PROVIDER_NAME UINT64_C(0x1)
#define DAT_PROVIDER_FIELD_PROVIDER_VERSION_MAJOR UINT64_C(0x2)
#define DAT_PROVIDER_FIELD_PROVIDER_VERSION_MINOR UINT64_C(0x4)
#define DAT_PROVIDER_FIELD_DAPL_VERSION_MAJOR UINT64_C(0x8)
#define DAT_PROVIDER_FIELD_DAPL_VERSION_MINOR UINT64_C(0x10)
#define DAT_PROVIDER_FIELD_LMR_MEM_TYPE_SUPPORTED UINT64_C(0x20)
#define DAT_PROVIDER_FIELD_IOV_OWNERSHIP UINT64_C(0x40)
#define DAT_PROVIDER_FIELD_DAT_QOS_SUPPORTED UINT64_C(0x80)
#define DAT_PROVIDER_FIELD_COMPLETION_FLAGS_SUPPORTED UINT64_C(0x100)
#define DAT_PROVIDER_FIELD_IS_THREAD_SAFE UINT64_C(0x200)
#define DAT_PROVIDER_FIELD_MAX_PRIVATE_DATA_SIZE UINT64_C(0x400)
#define DAT_PROVIDER_FIELD_SUPPORTS_MULTIPATH UINT64_C(0x800)
#define DAT_PROVIDER_FIELD_EP_CREATOR UINT64_C(0x1000)
#define DAT_PROVIDER_FIELD_PZ_SUPPORT UINT64_C(0x2000)
#define DAT_PROVIDER_FIELD_OPTIMAL_BUFFER_ALIGNMENT UINT64_C(0x4000)
#define DAT_PROVIDER_FIELD_EVD_STREAM_MERGING_SUPPORTED UINT64_C(0x8000)
#define DAT_PROVIDER_FIELD_SRQ_SUPPORTED UINT64_C(0x10000)
#define DAT_PROVIDER_FIELD_SRQ_WATERMARKS_SUPPORTED UINT64_C(0x20000)
#define DAT_PROVIDER_FIELD_SRQ_EP_PZ_DIFFERENCE_SUPPORTED UINT64_C(0x40000)
#define DAT_PROVIDER_FIELD_SRQ_INFO_SUPPORTED UINT64_C(0x80000)
#define DAT_PROVIDER_FIELD_EP_RECV_INFO_SUPPORTED UINT64_C(0x100000)
#define DAT_PROVIDER_FIELD_LMR_SYNC_REQ UINT64_C(0x200000)
#define DAT_PROVIDER_FIELD_DTO_ASYNC_RETURN_GUARANTEED UINT64_C(0x400000)
#define DAT_PROVIDER_FIELD_RDMA_WRITE_FOR_RDMA_READ_REQ UINT64_C(0x800000)
#define DAT_PROVIDER_FIELD_NUM_PROVIDER_SPECIFIC_ATTR UINT64_C(0x1000000)
#define DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR UINT64_C(0x2000000)
#define DAT_PROVIDER_FIELD_ALL UINT64_C(0x3ffffff)

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_ATTRIBUTES_H_ */
