#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the dynamic symbols of a shared library with the table of the binary interface.

  symbols_test.py registry TABLE LIBRARY INCLUDE   libdat2.so.2, libdat.so.1: rows symbol,
                                                   symbol_version, not_exported, not_declared; and
                                                   every function that INCLUDE/dat2/udat.h (with the
                                                   table of 1.2: dat/udat.h) declares
  symbols_test.py provider TABLE LIBRARY           a provider library: rows provider_symbol

The registry must export every call of the table at the table's version node. That includes the calls
that other implementations declare and forget to export. It must export nothing else but softdat_*. A
provider must export its entry points as functions, and no call of the API, since such a call would
hide the registry's."""

import os
import re
import subprocess
import sys
import tempfile

import abi_table

# Static inline functions of the headers, which no library has.
INLINE = {'dat_strerror_extension', 'dat_strerror_ext_status'}
# Exports that are not in the table, by the folder of the headers that declare them.
OWN = {'dat2': {'softdat_last_reason', 'softdat_version'}, 
       'dat': {'dat_extension', 'softdat_bridge_provider'}}


def exported(library):
    """{name: (letter of nm, version node or '')} of the defined dynamic symbols."""
    text = subprocess.run(['nm', '-D', '--extern-only', '--defined-only',
                           '--with-symbol-versions', library],
                          check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    symbols = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 2 or fields[-2] == 'A':
            continue  # the version node itself
        name, _, version = fields[-1].partition('@')
        symbols[name] = (fields[-2], version.lstrip('@'))
    return symbols


def declared(include, folder):
    """Names of the functions that FOLDER/udat.h declares, as the C compiler sees them."""
    with tempfile.TemporaryDirectory() as work:
        source, listing = os.path.join(work, 'all.c'), os.path.join(work, 'all.list')
        with open(source, 'w', encoding='ascii') as file:
            file.write(f'#include <{folder}/udat.h>\n')
        subprocess.run(['gcc', '-fsyntax-only', '-I', include, '-aux-info', listing, source],
                       check=True)
        with open(listing, encoding='ascii') as file:
            # The form is /* FILE:LINE:NC */ extern TYPE NAME (PARAMETERS). System headers are in
            # it, too.
            found = re.findall(rf'^/\* {include}/{folder}/\S* \*/ extern [^(]*?(\w+) \(',
                               file.read(), re.MULTILINE)
    return set(found)


def check_registry(rows, symbols, include):
    faults, counts = [], {}
    nodes = [r.value for r in rows if r.kind == 'symbol']
    folder = 'dat' if nodes[0] == 'DAT_1.2' else 'dat2'
    wanted = {}
    for row in rows:
        if row.kind not in ('symbol', 'symbol_version', 'not_exported', 'not_declared'):
            continue
        counts[row.kind] = counts.get(row.kind, 0) + 1
        if row.kind == 'symbol':
            _, _, letter = row.member.partition(':')
            wanted[row.name] = (letter or 'T', row.value)
        elif row.kind == 'symbol_version':
            if not any(version == row.name for _, version in symbols.values()):
                faults.append(f'no symbol has this version: {row}')
        elif row.kind == 'not_declared':
            if row.name not in symbols:
                faults.append(f'not exported: {row}')
        elif row.name in INLINE:
            if row.name in symbols:
                faults.append(f'exported, although inline in the header: {row}')
        else:
            wanted[row.name] = ('T', nodes[0])
    for name, form in sorted(wanted.items()):
        if symbols.get(name) != form:
            faults.append(f'{name}: found {symbols.get(name, "nothing")}, not {form}')
    functions = declared(include, folder)
    counts['declared'] = len(functions)
    if not functions:
        faults.append(f'{folder}/udat.h declares no function')
    for name in sorted(functions - set(symbols)):
        faults.append(f'{name}: declared in the headers, not exported')
    for name in sorted(OWN[folder] - set(symbols)):
        faults.append(f'{name}: not exported')
    for name in sorted(set(symbols) - set(wanted)):
        if not name.startswith('softdat_') and name not in OWN[folder]:
            faults.append(f'{name}: exported, and not in the table')
    return faults, counts


def check_provider(rows, symbols):
    faults, counts = [], {}
    for row in rows:
        if row.kind == 'provider_symbol':
            counts[row.kind] = counts.get(row.kind, 0) + 1
            presence_only = row.member.startswith('presence only')
            letter = symbols.get(row.name, (None,))[0]
            if letter is None or (not presence_only and letter != 'T'):
                faults.append(f'not exported as it must be (found {letter}): {row}')
        elif row.kind == 'symbol' and row.name in symbols:
            faults.append(f'a provider must not export a call of the API: {row}')
    if not counts:
        faults.append('the table has no row for providers')
    return faults, counts


def main(arguments):
    # The number of arguments of each form.
    checks = {'registry': (check_registry, 4), 'provider': (check_provider, 3)}
    if not arguments or len(arguments) != checks.get(arguments[0], (None, 0))[1]:
        raise SystemExit(__doc__)
    form, table, library = arguments[:3]
    faults, counts = checks[form][0](abi_table.read(table), exported(library), *arguments[3:])
    for kind, count in sorted(counts.items()):
        print(f'{kind:15} {count:4} rows checked')
    for fault in faults:
        print(f'FAILED {re.sub(".*/", "", library)}: {fault}')
    return 1 if faults or not counts else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
