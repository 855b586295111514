// SPDX-License-Identifier: BSD-3-Clause
// The name of the IA that has an address.
#ifndef SOFTDAT_RDS_LINK_IA_NAMES_H_
#define SOFTDAT_RDS_LINK_IA_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

#include "rds/socket/address.h"

namespace softdat::rds {

// What the setting SOFTDAT_RDS_IA says for an address, which interface `device` has (empty: none of
// this host has it):
//
//   ADDRESS=IA[,ADDRESS=IA]...   the IA of that address
//   PREFIX-                      PREFIX- followed by the device's name, for example softnet-udp-
//   IA                           that one
//
// Without a setting it is the IA of softnet over TCP. Empty: no IA.
std::string IaNameFor(std::string_view setting, const Address& address, std::string_view device);

// The same with the environment and the interfaces of this host.
std::string IaNameFor(const Address& address);

// The address with its scope, if an interface of this host has it.
std::optional<Address> OnThisHost(const Address& address);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_LINK_IA_NAMES_H_
