#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a test program from the table of the binary interface: one check per row on headers.

  gen_abi_test.py --table T --header H... --out abi_test.c          all rows on headers
  gen_abi_test.py --table T --header H... --out noext_test.c --noext   rows of kind noext

The text is the same for C and C++ (abi_test_support.h hides the difference). What can be known at
compile time is a static assertion. Expansions of macros, calls through macros and pointer constants
are checked when the program runs. With -DABI_FOREIGN_HEADERS it leaves out what is known to be wrong
in the headers of other implementations (kind erratum), so that it can be compiled against those, too."""

import argparse
import collections
import re

import abi_table
import gen_abi_calls
from abi_table import c_string


class Program:
    """Collects the parts of the program: file scope, body of main(), rows of each kind."""

    def __init__(self, rows):
        self.rows = rows
        self.scope = []
        self.body = []
        self.static_rows = collections.Counter()
        self.table_rows = collections.Counter()
        self.errata = {r.name for r in rows if r.kind == 'erratum'}

    def static(self, row, condition, counts=True):
        self.scope.append(f'ABI_STATIC({condition}, {c_string(str(row))});')
        if counts:
            self.static_rows[row.kind] += 1

    def check(self, row, condition):
        self.body.append(f'  abi_check(&checked_{row.kind}, {condition}, {c_string(str(row))});')


def check_const(p, row):
    if not row.member.startswith('macro:'):
        p.static(row, f'(int64_t)({row.name}) == {int(row.value, 0)}')
        p.scope.append('#ifdef __cplusplus')
        p.static(row, f'ABI_SAME_TYPE(__typeof__({row.name}), {row.member})', counts=False)
        p.scope.append('#endif')
        return
    p.scope += [f'#ifndef {row.name}', f'#error "not a macro: {row.name}"', '#endif']
    form, value = row.member[len('macro:'):], int(row.value, 0)
    if form == 'pointer':
        p.check(row, f'(uintptr_t)({row.name}) == {value}u && sizeof({row.name}) == sizeof(void *)')
        return
    bits = {'int32': 32, 'int64': 64}[form]
    p.static(row, f'(uint{bits}_t)({row.name}) == UINT{bits}_C({value % 2**bits:#x})'
                  f' && sizeof({row.name}) == {bits // 8}')


def check_sizeof(p, row):
    test = {'enum': 'ABI_IS_ENUM', 'struct': 'ABI_IS_STRUCT', 'union': 'ABI_IS_UNION'}[row.member]
    p.static(row, f'sizeof({row.name}) == {row.value} && {test}({row.name})')


def check_field(p, row):
    offset, size = row.value.split(':')
    p.static(row, f'offsetof({row.name}, {row.member}) == {offset}'
                  f' && sizeof((({row.name} *)0)->{row.member}) == {size}')


def check_fieldtype(p, row):
    member = f'__typeof__((({row.name} *)0)->{row.member})'
    if row.value == 'union <anon>':
        p.static(row, f'ABI_IS_UNION({member})')
        return
    wanted = row.value.replace('const const', 'const')
    p.static(row, f'ABI_SAME_TYPE(__typeof__({wanted}), {member})')


def check_typedef(p, row):
    p.static(row, f'ABI_SAME_TYPE({row.name}, __typeof__({row.member}))'
                  f' && sizeof({row.name}) == {row.value}')


def check_slot(p, row):
    slot_type, offset = row.value.split('@')
    member = f'__typeof__(((DAT_PROVIDER *)0)->{row.name})'
    p.static(row, f'offsetof(DAT_PROVIDER, {row.name}) == {offset}'
                  f' && {offset} == {row.member} * sizeof(void *)'
                  f' && ABI_SAME_TYPE(__typeof__({slot_type}), {member})')


def check_proto(p, row):
    types = ', '.join(abi_table.split_types(row.value)) or 'void'
    p.scope.append(f'typedef {row.member} (*abi_proto_{row.line})({types});')
    actual = f'__typeof__(&{row.name})' if row.name.islower() else row.name
    p.static(row, f'ABI_SAME_TYPE({actual}, abi_proto_{row.line})')


def check_alias(p, row):
    if row.member == 'macro:compound literal':
        p.body.append(f'  {{ DAT_OS_WAIT_PROXY_AGENT agent = {row.name};')
        p.check(row, 'agent.instance_data == NULL && agent.proxy_agent_func == NULL')
        p.body.append('  }')
        return
    if row.member not in ('macro', 'macro:type/keyword', 'macro:empty'):
        raise SystemExit(f'no check for this form of alias: {row}')
    p.scope += [f'#ifndef {row.name}', f'#error "not a macro: {row.name}"', '#endif']
    p.check(row, f'strcmp(ABI_EXPANSION({row.name}), ABI_EXPANSION({row.value})) == 0')


def check_string(p, row):
    p.check(row, f'strcmp({row.name}, {c_string(row.value)}) == 0')


CHECKS = {
    'const': check_const, 'sizeof': check_sizeof, 'field': check_field,
    'fieldtype': check_fieldtype, 'typedef': check_typedef, 'slot': check_slot,
    'proto': check_proto, 'alias': check_alias, 'string': check_string,
    'macro': gen_abi_calls.check_macro, 'extop': gen_abi_calls.check_extop,
    'erratum': gen_abi_calls.check_erratum,
}


def check_noext(p, row):
    """A name that must not be declared is declared here as something else."""
    if row.value.isdigit():
        p.static(row, f'sizeof({row.name}) == {row.value}')
        return
    if row.value != 'absent':
        raise SystemExit(f'no check for this row: {row}')
    if row.name == 'DAT_PROVIDER' or row.member == 'slot':
        # Without extensions the last member is absent.
        p.static(row, 'offsetof(DAT_PROVIDER, ia_ha_related_func) + sizeof(DAT_IA_HA_RELATED_FUNC)'
                      ' == sizeof(DAT_PROVIDER)')
        return
    p.scope += [f'#ifdef {row.name}', f'#error "still a macro: {row.name}"', '#endif',
                f'enum abi_absent_{row.line} {{ {row.name} = {row.line} }};']
    p.static(row, f'{row.name} == {row.line}')


def write(p, out, kinds, headers, source):
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             f'/* Generated from {source} by gen_abi_test.py; do not edit. */',
             '#ifndef _DEFAULT_SOURCE', '#define _DEFAULT_SOURCE 1 /* u_int32_t */', '#endif',
             '#ifdef ABI_FOREIGN_HEADERS', '#include <netinet/in.h>', '#endif']
    lines += [f'#include <{h}>' for h in headers]
    lines += ['#include "tests/abi/abi_test_support.h"', '']
    lines += [f'static int checked_{k};' for k in kinds]
    lines += p.scope + ['', 'int main(void) {'] + p.body
    for kind in kinds:
        total = f'{p.static_rows[kind]} + checked_{kind}'
        if kind in ('extop', 'erratum'):
            lines.append('#ifndef ABI_FOREIGN_HEADERS')
        lines.append(f'  abi_report("{kind}", {p.table_rows[kind]}, {total});')
        if kind in ('extop', 'erratum'):
            lines += ['#else', f'  (void)checked_{kind};', '#endif']
    lines += ['  return abi_failures == 0 ? 0 : 1;', '}', '']
    with open(out, 'w', encoding='ascii') as program:
        program.write('\n'.join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--table', required=True)
    parser.add_argument('--header', action='append', required=True, help='to include')
    parser.add_argument('--out', required=True)
    parser.add_argument('--noext', action='store_true', help='rows of headers without extensions')
    args = parser.parse_args()

    rows = abi_table.read(args.table)
    p = Program(rows)
    if args.noext:
        kinds, checks = abi_table.NOEXT_KINDS, {'noext': check_noext}
    else:
        kinds, checks = abi_table.HEADER_KINDS, CHECKS
        gen_abi_calls.prepare(p)
    for row in rows:
        if row.kind in kinds:
            p.table_rows[row.kind] += 1
            checks[row.kind](p, row)
    write(p, args.out, kinds, args.header, re.sub(r'.*/', '', args.table))


if __name__ == '__main__':
    main()
