#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs dat_info with the libraries that are built: every mode, as text and as JSON.
# usage: dat_info_test.sh LIB PROGRAM PROVIDER-LIBRARY
. "$1"
program=$2
provider=$(readlink -f "$3")
declared_providers

# json EXPRESSION: the expression must hold for `r`, the JSON that the last run printed.
json() { python3 -c 'import json, sys; r = json.loads(sys.argv[1]); assert eval(sys.argv[2]), r' "$out" "$1"; }

check "table" run 0 "$program"
check "softnet-lo is there" has "$out" "^softnet-lo +ok +127.0.0.1 +libdaplsoftnet.so.2 +found"
check "table as JSON" run 0 "$program" --json
check "has softnet-lo" json 'any(ia["name"] == "softnet-lo" and ia["available"] for ia in r)'
check "names" run 0 "$program" -l
check "one a line" has "$out" "^softnet-lo$"
check "names as JSON" run 0 "$program" -l --json
check "a list" json '"softnet-lo" in r'

check "one IA, all attributes" run 0 "$program" -v softnet-lo
check "of the adapter" has "$out" "^  max_eps +[1-9]"
check "of the provider" has "$out" "^  max_private_data_size +256"
check "named ones" has "$out" "^    DAT_IB_RDMA_READ +TRUE"
check "the same as JSON" run 0 "$program" -v softnet-lo --json
check "typed" json 'r["ia_attr"]["max_eps"] > 0 and r["provider_attr"]["max_private_data_size"] == 256'
check "every member of the structs" json 'len(r["ia_attr"]) >= 30 and len(r["provider_attr"]) >= 28'

check "--why of a good one" run 0 "$program" --why softnet-lo
check "says so" has "$out" "can be opened: address 127.0.0.1"
check "one of its addresses" run 0 "$program" softnet-lo/127.0.0.1
check "has it" has "$out" "^softnet-lo/127.0.0.1 +ok +127.0.0.1 +libdaplsoftnet.so.2 +found"
check "--why of an address that it has not" run 1 "$program" --why softnet-lo/192.0.2.9
check "says which it has" has "$out" "lo has no address 192.0.2.9; it has: .*127.0.0.1"
check "--why of no one" run 1 "$program" --why softnet-nosuch0
check "names and chain" has "$out" "DAT_PROVIDER_NOT_FOUND DAT_NAME_NOT_REGISTERED"
check "at least one reason" has "$out" "^    because: .*softnet-nosuch0"
check "the same as JSON" run 1 "$program" --why softnet-nosuch0 --json
check "reasons are a list" json 'not r["available"] and len(r["reasons"]) > 0'
check "one that is not there" run 1 "$program" softnet-nosuch0

printf '%s\r\n' "good u2.0 nonthreadsafe default $provider softdat.1.0 \"\" \"\"" \
  "bad u2.0 nonthreadsafe sometimes $provider softdat.1.0 \"\" \"\"" \
  "absent u2.0 nonthreadsafe default /nowhere/lib.so softdat.1.0 \"\" \"\"" \
  "other u2.0 nonthreadsafe default libc.so.6 softdat.1.0 \"\" \"\"" >"$work/dat.conf"
check "--check" run 1 "$program" --check "$work/dat.conf"
check "good line" has "$out" "^ok .*dat.conf:1: good is served by "
check "bad field with its place" has "$out" "^problem .*dat.conf:2:[0-9]+: field 4"
check "library that is not there" has "$out" "^problem .*dat.conf:3: .*cannot load /nowhere/lib.so"
check "library that is no provider" has "$out" "^problem .*dat.conf:4: .*does not export dat_provider_init"
check "--check as JSON" run 1 "$program" --check "$work/dat.conf" --json
check "counts" json 'r["problems"] == 3 and len(r["findings"]) == 4'
head -1 "$work/dat.conf" >"$work/good.conf"
check "--check of a good file" run 0 "$program" --check "$work/good.conf"
check "--check without a file" run 1 "$program" --check "$work/nowhere.conf"
check "names it" has "$err" "nowhere.conf"

DAT_OVERRIDE=/nonexistent check "a dat.conf that cannot be read" run 1 "$program"
check "is named" has "$out" "^no IA: .*DAT_OVERRIDE.*/nonexistent"
DAT_OVERRIDE=/nonexistent check "names of one that cannot be read" run 1 "$program" -l
check "is named to standard error" has "$err" "DAT_OVERRIDE.*/nonexistent"
DAT_OVERRIDE=/nonexistent check "settings with one that cannot be read" run 1 "$program" -e
check "is a problem" has "$out" "^problem: .*DAT_OVERRIDE.*/nonexistent"
SOFTDAT_LOG=/nonexistent/x check "settings with a log that cannot be written" run 1 "$program" -e
check "is a problem, too" has "$out" "^problem: SOFTDAT_LOG=/nonexistent/x"
SOFTDAT_CRC=yes check "a setting that is not understood" run 1 "$program" --why softnet-lo
check "opens nothing" has "$out" "because: SOFTDAT_CRC=yes is not valid"
check "a mistyped name" run 1 "$program" --why softnet-l0
check "gets the nearest ones" has "$out" "because: the nearest: softnet-lo"

DAT_OVERRIDE=$work/good.conf check "IA of a dat.conf" run 1 "$program" good
check "where it comes from" has "$out" "good.conf:1"

check "settings" run 0 "$program" -e
check "value, source, default" has "$out" "^SOFTDAT_SPIN_US = [0-9]+ +\[default; default [0-9]+"
SOFTDAT_SPIN_US=7 check "one that is set" run 0 "$program" -e --json
check "says so" json 'any(s["name"] == "SOFTDAT_SPIN_US" and s["value"] == "7" and s["source"] == "environment" for s in r["tables"][0]["settings"])'
check "also the provider's" json 'any("libdaplsoftnet" in library for table in r["tables"] for library in table["libraries"])'
SOFTDAT_NO_SUCH=1 SOFTDAT_SPIN_US=x check "unknown and wrong ones" run 1 "$program" -e
check "are named" has "$out" "^problem: .*SOFTDAT_SPIN_US"
check "both" has "$out" "^problem: .*SOFTDAT_NO_SUCH"

check "a wrong option" run 2 "$program" --bogus
check "modes that exclude each other" run 2 "$program" -l -e
check "--help" run 0 "$program" --help

finish
