# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the macros that make calls: through a provider table (kind macro), through
dat_extension_op (kind extop).

Each macro is called with known arguments. A stub replaces the function behind it and records what it
receives, and the program compares."""

import abi_table

# The published macros of these rows name the wrong operation or type by mistake. These are the
# right ones.
CORRECT_OPERATION = {'dat_ib_collective_set_clock': 'DAT_IB_COLLECTIVE_SET_CLOCK_OP'}
CORRECT_TYPE = {'DAT_COUNTER_TYPE': 'DAT_IA_COUNTER_TYPE', '': 'DAT_DTO_COOKIE'}

# The handle is the first argument of an operation's macro, except here (positions count from 0).
HANDLE_POSITION = {'dat_ib_collective_create_group': 5}

# A function-like macro that calls nothing, and what must hold for it.
PLAIN_MACROS = {
    'UINT64_C': 'UINT64_C(0xfedcba9876543210) >> 32 == 0xfedcba98u && sizeof(UINT64_C(1)) == 8',
    'DAT_IA_HANDLE_TO_UL': 'DAT_IA_HANDLE_TO_UL((DAT_IA_HANDLE)(uintptr_t)7) == 7ul',
    'DAT_UL_TO_IA_HANDLE': 'DAT_UL_TO_IA_HANDLE(7ul) == (DAT_IA_HANDLE)(uintptr_t)7',
    'DAT_IS_WARNING': 'DAT_IS_WARNING(0x40070001u) != 0 && DAT_IS_WARNING(0x80070001u) == 0',
    'DAT_GET_TYPE': 'DAT_GET_TYPE(0x80070001u) == 0x70000u'
                    ' && DAT_GET_TYPE(0xc0070001u) == 0x70000u',
    'DAT_GET_SUBTYPE': 'DAT_GET_SUBTYPE(0x80070001u) == 1u',
    'DAT_HANDLE_TO_PROVIDER': 'DAT_HANDLE_TO_PROVIDER(&abi_object) == &abi_provider',
}

STUBS = '''
static DAT_PROVIDER abi_provider;
/* A provider object: its first word points to the table. */
static struct { DAT_PROVIDER *provider; } abi_object;

/* In every slot that must not be called: the row is reported, the program goes on. */
static DAT_RETURN abi_wrong_slot(void) { return 0; }

static void abi_clear_provider(void) {
  DAT_RETURN (*const wrong)(void) = abi_wrong_slot;
  size_t offset;
  for (offset = offsetof(DAT_PROVIDER, ia_open_func); offset < sizeof abi_provider;
       offset += sizeof wrong) {
    memcpy((char *)&abi_provider + offset, &wrong, sizeof wrong);
  }
  memset(&abi_got, 0, sizeof abi_got);
}

#ifdef __cplusplus
extern "C" {
#endif
DAT_RETURN dat_ia_openv(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd,
                        DAT_IA_HANDLE *ia, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN safe) {
  abi_record(&name, sizeof name);
  abi_record(&qlen, sizeof qlen);
  abi_record(&async_evd, sizeof async_evd);
  abi_record(&ia, sizeof ia);
  abi_record(&major, sizeof major);
  abi_record(&minor, sizeof minor);
  abi_record(&safe, sizeof safe);
  return 4711;
}
@
static void (*abi_read_operation)(va_list *);
DAT_RETURN dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP operation, ...) {
  va_list ap;
  va_start(ap, operation);
  abi_record(&handle, sizeof handle);
  abi_record(&operation, sizeof operation);
  abi_read_operation(&ap);
  va_end(ap);
  return 4711;
}
@
#ifdef __cplusplus
}
#endif
'''


def prepare(p):
    """What all calls need."""
    p.protos = {r.name: abi_table.split_types(r.value) for r in p.rows if r.kind == 'proto'}
    before, extension, after = STUBS.split('@\n')
    p.scope.append(before + (extension if 'dat_extension_op' in p.protos else '') + after)
    p.body.append('  abi_object.provider = &abi_provider;')
    p.slots = {r.name: r.value.split('@')[0] for r in p.rows if r.kind == 'slot'}
    p.enums = {}  # name -> greatest enumerator
    for row in p.rows:
        if row.kind == 'const' and not row.member.startswith('macro:'):
            p.enums[row.member] = max(int(row.value, 0), p.enums.get(row.member, 0))


def variable_type(type_name):
    """A type that can be assigned to: the parameter's type without its own const."""
    if type_name.startswith('const ') and not type_name.endswith('*'):
        return type_name[len('const '):]
    return type_name


def declare_arguments(p, types):
    """Local variables a0..an with different values; enums get one that they can hold."""
    lines = []
    enums_seen = 0
    for i, type_name in enumerate(types):
        type_name = variable_type(type_name)
        lines.append(f'    {type_name} a{i};')
        if type_name in p.enums:
            enums_seen += 1
            lines.append(f'    a{i} = ({type_name}){min(enums_seen, p.enums[type_name])};')
        else:
            lines.append(f'    memset(&a{i}, {0x11 * (i + 1) % 256:#x}, sizeof a{i});')
    return lines


def compare_arguments(types, first=0):
    tests = [f'abi_got.count == {len(types) + first}']
    tests += [f'abi_arg_is({i + first}, &a{i}, sizeof a{i})' for i in range(len(types))]
    return ' && '.join(tests)


def dispatch(p, row, macro, slot, counter_row):
    """Calls `macro` with an object whose provider has a stub in `slot`."""
    types = p.protos[p.slots[slot]]
    if types[-1] == 'va_list':
        dispatch_va_list(p, macro, slot, counter_row)
        return
    stub = f'abi_stub_{row.line}'
    params = ', '.join(f'{t} a{i}' for i, t in enumerate(types))
    p.scope.append(f'static DAT_RETURN {stub}({params}) {{')
    p.scope += [f'  abi_record(&a{i}, sizeof a{i});' for i in range(len(types))]
    p.scope.append(f'  return {row.line};\n}}')
    p.body.append('  {')
    p.body += declare_arguments(p, types)
    p.body += ['    a0 = &abi_object;', '    abi_clear_provider();',
               f'    abi_provider.{slot} = {stub};',
               f'    DAT_RETURN result = {macro}({", ".join(f"a{i}" for i in range(len(types)))});']
    p.check(counter_row, f'result == {row.line} && {compare_arguments(types)}')
    p.body.append('  }')


def dispatch_va_list(p, macro, slot, row):
    p.scope.append(f'''static DAT_RETURN abi_stub_{row.line}(DAT_HANDLE a0, DAT_EXTENDED_OP a1,
                                      va_list a2) {{
  int value = va_arg(a2, int);
  abi_record(&a0, sizeof a0);
  abi_record(&a1, sizeof a1);
  abi_record(&value, sizeof value);
  return {row.line};
}}
static DAT_RETURN abi_call_{row.line}(DAT_HANDLE handle, DAT_EXTENDED_OP operation, ...) {{
  va_list ap;
  DAT_RETURN result;
  va_start(ap, operation);
  result = {macro}(handle, operation, ap);
  va_end(ap);
  return result;
}}''')
    p.body += ['  {', '    DAT_HANDLE a0 = &abi_object;', '    DAT_EXTENDED_OP a1 = 12;',
               '    int a2 = 34;', '    abi_clear_provider();',
               f'    abi_provider.{slot} = abi_stub_{row.line};',
               f'    DAT_RETURN result = abi_call_{row.line}(a0, a1, a2);']
    p.check(row, f'result == {row.line} && ' + compare_arguments(['', '', '']))
    p.body.append('  }')


def check_macro(p, row):
    p.scope += [f'#ifndef {row.name}', f'#error "not a macro: {row.name}"', '#endif']
    if row.value == 'function-like':
        if row.name not in PLAIN_MACROS:
            raise SystemExit(f'no check for this macro: {row}')
        p.check(row, PLAIN_MACROS[row.name])
    elif row.value.startswith('dispatches to slot '):
        dispatch(p, row, row.name, row.value.split()[-1], row)
    elif row.value.startswith('dat_ia_openv with: '):
        fixed = row.value.split(': ')[1].split('; ')[4:]
        types = p.protos['dat_ia_openv']
        p.body.append('  {')
        p.body += declare_arguments(p, types)
        p.body += [f'    a{i + 4} = {value};' for i, value in enumerate(fixed)]
        p.body += ['    abi_forget();', f'    DAT_RETURN result = {row.name}(a0, a1, a2, a3);']
        p.check(row, f'result == 4711 && {compare_arguments(types)}')
        p.body.append('  }')
    else:
        raise SystemExit(f'no check for this macro: {row}')


def parse_operation(row):
    """(type of the handle, or None if there is none; types of the variable arguments)."""
    handle, _, variadic = row.value.partition(' | variadic: ')
    handle_type, handle_name = handle[len('handle: '):].rsplit(' ', 1)
    arguments = [] if variadic == '(none)' else [a.strip() for a in variadic.split(';')]
    types = [a.rpartition(' ')[0].strip() for a in arguments]
    return (None if handle_name == 'NULL' else handle_type,
            [CORRECT_TYPE.get(t, t) for t in types])


def check_extop(p, row):
    handle_type, types = parse_operation(row)
    operation = CORRECT_OPERATION.get(row.name, row.member)
    guard = row.name in p.errata
    scope = [f'static void abi_read_{row.line}(va_list *ap) {{', '  (void)ap;']
    for i, type_name in enumerate(types):
        type_name = variable_type(type_name)
        # In C++ an enum is passed as the int that it is promoted to.
        read = f'({type_name})va_arg(*ap, int)' if type_name in p.enums else (
            f'va_arg(*ap, {type_name})')
        scope += [f'  {type_name} a{i} = {read};',
                  f'  abi_record(&a{i}, sizeof a{i});']
    scope.append('}')
    body = ['  {', '    DAT_EXTENDED_OP operation = (DAT_EXTENDED_OP)' + operation + ';']
    body += declare_arguments(p, types)
    handle = 'NULL' if handle_type is None else '&abi_object'
    body.append(f'    DAT_HANDLE handle = {handle};')
    arguments = [f'a{i}' for i in range(len(types))]
    if handle_type is not None:
        arguments.insert(HANDLE_POSITION.get(row.name, 0), 'handle')
    body += ['    abi_forget();', f'    abi_read_operation = abi_read_{row.line};',
             f'    DAT_RETURN result = {row.name}({", ".join(arguments)});']
    p.scope += (['#ifndef ABI_FOREIGN_HEADERS'] if guard else []) + scope
    p.scope += ['#endif'] if guard else []
    p.body += (['#ifndef ABI_FOREIGN_HEADERS'] if guard else []) + body
    p.check(row, 'result == 4711 && abi_arg_is(0, &handle, sizeof handle)'
                 ' && abi_arg_is(1, &operation, sizeof operation) && '
            + compare_arguments(types, first=2))
    p.body += ['  }'] + (['#endif'] if guard else [])


def check_erratum(p, row):
    """What the published headers get wrong works with ours."""
    p.scope.append('#ifndef ABI_FOREIGN_HEADERS')
    p.body.append('#ifndef ABI_FOREIGN_HEADERS')
    if any(r.kind == 'extop' and r.name == row.name for r in p.rows):
        # check_extop() calls the macro. Here we only check that it exists.
        p.scope += [f'#ifndef {row.name}', f'#error "not a macro: {row.name}"', '#endif']
        p.static(row, '1')
    elif row.name == 'DAT_IA_HA_RELATED':
        dispatch(p, row, row.name, 'ia_ha_related_func', row)
    else:
        raise SystemExit(f'no check for this erratum: {row}')
    p.scope.append('#endif')
    p.body.append('#endif')
