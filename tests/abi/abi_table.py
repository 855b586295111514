# SPDX-License-Identifier: BSD-3-Clause
"""Reads the table of a binary interface: udapl2_abi.csv of uDAPL 2.0, udapl12_abi.csv of 1.2.

A row is kind,name,member,value; what the three mean depends on the kind (see gen_abi_test.py)."""

import csv
import re

# Kinds whose rows describe the headers. Every row of them becomes a check in the generated tests.
HEADER_KINDS = ('const', 'sizeof', 'field', 'fieldtype', 'slot', 'proto', 'typedef', 'alias',
                'macro', 'string', 'extop', 'erratum')
# Rows that hold when the headers are compiled without the extension entry.
NOEXT_KINDS = ('noext',)
# Rows about shared libraries; checked by symbols_test.py.
LIBRARY_KINDS = ('symbol', 'symbol_version', 'not_exported', 'not_declared', 'provider_symbol')
# Rows that say how another implementation differs. Nothing here depends on them.
FOREIGN_KINDS = ('illumos_diff', 'symbol_illumos')


class Row:
    """One row of the table; `line` is its line number, for messages."""

    def __init__(self, line, cells):
        if len(cells) != 4:
            raise SystemExit(f'line {line} of the table: {len(cells)} cells, not 4')
        self.line = line
        self.kind, self.name, self.member, self.value = cells

    def __str__(self):
        return f'line {self.line}: {self.kind},{self.name},{self.member},{self.value}'


def read(path):
    """All rows; a kind that no test handles is an error."""
    known = HEADER_KINDS + NOEXT_KINDS + LIBRARY_KINDS + FOREIGN_KINDS
    rows = []
    with open(path, newline='', encoding='ascii') as table:
        for line, cells in enumerate(csv.reader(table), 1):
            row = Row(line, cells)
            if line == 1:
                continue  # kind,name,member,value
            if row.kind not in known:
                raise SystemExit(f'{path}: no test handles this kind: {row}')
            rows.append(row)
    return rows


def split_types(text):
    """'DAT_EP_HANDLE; const char **message' -> the types alone."""
    types = []
    for part in filter(None, (p.strip() for p in text.split(';'))):
        named = re.match(r'(.*[\w*]\s*[ *])([a-z][a-z_]*)$', part)
        if named and named.group(1).strip() not in ('const', 'struct', 'unsigned'):
            part = named.group(1).strip()
        types.append(part)
    return types


def c_string(text):
    """As a C string literal."""
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'
