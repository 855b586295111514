// SPDX-License-Identifier: BSD-3-Clause
// A network namespace for a test that needs other addresses than this host has, or nobody else who
// uses RDS.
#ifndef SOFTDAT_TESTS_RDS_NETWORK_H_
#define SOFTDAT_TESTS_RDS_NETWORK_H_

namespace softdat::rds_test {

// Each returns whether it could be done.

// This process and its children are in a network of their own from now on, with lo alone.
bool EnterNetwork();
bool RemoveIpv4(const char* interface);
bool AddIpv6(const char* interface, const char* address, int prefix);
bool RemoveIpv6(const char* interface, const char* address, int prefix);
// Another interface, which lasts as long as this process.
bool MakeInterface(const char* interface, const char* address);

}  // namespace softdat::rds_test

#endif  // SOFTDAT_TESTS_RDS_NETWORK_H_
