import T from 'typebox'
import { Check } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { formatTs, fromUnixSeconds, parseTs, toUnixSeconds } from './clock.js'
import { bytes16ToUuid, derivedId, formatUuid, newId, uuidToBytes16 } from './ids.js'
import * as wire from './wire.js'

const address = `0x${'aB'.repeat(20)}`
const hash = `0x${'aB'.repeat(32)}`
const uuid = '0198A9e0-7c1e-7000-8000-00000000000f'
const uint256 = String(2n ** 256n - 1n)

const forms = { ...wire }

describe('a form on the wire', () => {
  it.each<[name: string, fits: string[], not: string[]]>([
    [
      'AddressInput',
      [address, address.replace('x', 'X')],
      [`${address}0`, address.slice(0, -1), `x${address}`, address.slice(2)],
    ],
    ['Address', [address], [address.replace('x', 'X'), `${address}0`, `x${address}`]],
    ['TxHash', [hash, hash.replace('x', 'X')], [`${hash}0`, hash.slice(0, -1), `x${hash}`, address]],
    ['Hex', ['0x', '0xaB', '0x12aB'], ['0x1', '0xg0', 'x0x12', '0x12 ']],
    ['Uuid', [uuid, uuid.toLowerCase()], [`${uuid}0`, `x${uuid}`, uuid.slice(0, -1), uuid.replaceAll('-', '')]],
    ['Raw', ['0', '007', uint256], ['', '-1', '1.5', String(2n ** 256n), '9'.repeat(79)]],
    ['SignedRaw', ['0', '-5', uint256], ['', '--1', '1.5', '+1', '9'.repeat(79)]],
    ['Dec', ['0', '-1.25', '10'], ['1.', '.5', '1e5', '', '1.2.3', '+1']],
    [
      'Ts',
      ['2026-11-20T12:00:00Z', '2026-11-20T12:00:00.123Z'],
      ['2026-11-20T12:00:00+00:00', '2026-11-20', 'x2026-11-20T12:00:00Z', '2026-11-20T12:00:00.Z'],
    ],
    ['TsInput', ['2026-11-20T12:00:00+02:00'], ['2026-11-20T12:00:00', 'soon', '']],
  ])('%s takes its own and nothing else', (name, fits, not) => {
    const schema = forms[name as 'Address']
    expect(fits.filter((text) => !Check(schema, text))).toEqual([])
    expect(not.filter((text) => Check(schema, text))).toEqual([])
  })

  it('says in a document what it is', () => {
    const { AddressInput, Address, TxHash, Uuid, Raw, TsInput, Dec, Ts } = wire
    expect([AddressInput, Address, TxHash, Uuid, Raw, TsInput, Dec, Ts]).toMatchObject([
      { description: 'EVM address, any case' },
      { description: 'EVM address, EIP-55 checksum' },
      { description: 'Transaction hash' },
      { description: 'UUID', format: 'uuid' },
      { description: "Integer in the token's smallest unit", format: 'uint256' },
      { description: 'RFC 3339 date-time, with Z or an offset', format: 'date-time' },
      { description: 'Plain decimal, no exponent' },
      { description: 'RFC 3339, UTC', format: 'date-time' },
    ])
    expect([wire.PaginationSchema, wire.PaginationNavSchema]).toMatchObject([
      { title: 'Pagination' },
      { title: 'PaginationNav' },
    ])
  })

  it('of the four members of a page says what each does, and what stands where it is absent', () => {
    expect(wire.pageQuery).toMatchObject({
      page: { description: 'From 1; below 1 is 1', default: 1 },
      limit: { description: 'Items a page, 1 to 100; below 1 is 20', default: 20 },
      pageLimit: { description: 'Alias of limit' },
      pageSize: { description: 'Alias of limit' },
    })
    expect(Check(T.Object(wire.pageQuery), {})).toBe(true)
  })

  it('of where a page stands has whole numbers, all four', () => {
    const pagination = { page: 1, limit: 20, total: 1, totalPages: 1 }
    expect(Check(wire.PaginationSchema, pagination)).toBe(true)
    for (const name of Object.keys(pagination)) {
      const { [name as 'page']: _left, ...rest } = pagination
      expect(Check(wire.PaginationSchema, rest)).toBe(false)
    }
  })

  it('of a chain is a whole number from 1 that a float keeps', () => {
    expect([1, Number.MAX_SAFE_INTEGER].every((id) => Check(wire.ChainId, id))).toBe(true)
    expect([0, 1.5, Number.MAX_SAFE_INTEGER + 1, '1'].some((id) => Check(wire.ChainId, id))).toBe(false)
  })

  it('that may be null is that or null; one of some values is one of them', () => {
    expect([null, 5].every((value) => Check(wire.Nullable(T.Integer()), value))).toBe(true)
    expect(Check(wire.Nullable(T.Integer()), '5')).toBe(false)
    const open = wire.OpenEnum(['a', 'b'], { default: 'a' })
    expect([Check(open, 'a'), Check(open, 'b'), Check(open, 'c')]).toEqual([true, true, false])
    expect(open).toMatchObject({ default: 'a', 'x-open': true })
  })

  it('of a list has at most 200 items, or as many as it says', () => {
    const items = (count: number) => Array.from({ length: count }, () => 'x')
    expect([Check(wire.List(), items(200)), Check(wire.List(), items(201))]).toEqual([true, false])
    const few = wire.List({ maxItems: 2, form: wire.addressForm, description: 'Few' })
    expect([Check(few, [address]), Check(few, ['x']), Check(few, [address, address, address])]).toEqual([
      true,
      false,
      false,
    ])
    expect(few).toMatchObject({ description: 'Few' })
    expect(wire.List()).not.toHaveProperty('description')
  })

  it('of a page has data and says where it stands', () => {
    const page = { data: [1], pagination: { page: 1, limit: 20, total: 1, totalPages: 1 } }
    expect(Check(wire.PageOf(T.Integer()), page)).toBe(true)
    expect(Check(wire.PageOf(T.Integer()), { ...page, data: ['x'] })).toBe(false)
    expect(Check(wire.PageOf(T.Integer()), { data: [] })).toBe(false)
    const nav = { ...page.pagination, hasNext: false, hasPrevious: false }
    expect([Check(wire.PaginationNavSchema, nav), Check(wire.PaginationNavSchema, page.pagination)]).toEqual([
      true,
      false,
    ])
  })
})

describe('a violation', () => {
  const schema = T.Object({
    amount: wire.Raw,
    'a/b~c': T.String(wire.addressForm),
    plain: T.String({ pattern: '^x$' }),
    mute: T.String({ pattern: '^x$', says: 5 }),
    empty: T.Unsafe({ const: null }),
    id: wire.Uuid,
    hash: wire.TxHash,
  })
  const told = (keyword: string, schemaPath: string, params: object = {}) =>
    wire.describeViolation(schema, { keyword, schemaPath, params, message: 'is wrong' })

  it('of a pattern is told in the words of the schema, where it has some', () => {
    expect(told('pattern', '#/properties/amount')).toBe('must be a text of decimal digits, an integer below 2^256')
    expect(told('pattern', '#/properties/a~1b~0c')).toBe('must be an EVM address: 0x and 40 hex digits')
    expect(told('pattern', '#/properties/id')).toBe('must be a uuid')
    expect(told('pattern', '#/properties/hash')).toBe('must be a transaction hash: 0x and 64 hex digits')
    for (const path of [
      '#/properties/mute',
      '#/properties/empty/const/x',
      '#/properties/plain',
      '#/properties/none',
      '#/properties/amount/says/length',
      '',
    ])
      expect(told('pattern', path)).toBe('is wrong')
  })

  it('of a format says what the format is, of a choice which there are, and of all else what was found', () => {
    expect(told('format', '', { format: 'date-time' })).toBe('must be an RFC 3339 date-time with Z or an offset')
    expect(told('format', '', { format: 'uint256' })).toBe('must be an integer below 2^256')
    expect(told('format', '')).toBe('must be an integer below 2^256')
    expect(told('enum', '', { allowedValues: ['a', 'b'] })).toBe('must be one of a, b')
    expect(told('enum', '', { allowedValues: 'a' })).toBe('is wrong')
    expect(told('type', '')).toBe('is wrong')
  })
})

describe('a date-time', () => {
  it.each<[string, string | undefined]>([
    ['2026-12-31T23:59:60Z', '2027-01-01T00:00:00.000Z'],
    ['2027-01-01T01:59:60+02:00', '2027-01-01T00:00:00.000Z'],
    ['2026-12-31T23:59:60.5Z', '2027-01-01T00:00:00.500Z'],
    ['2026-12-31T23:58:60Z', undefined],
    ['2026-12-31T23:59:61Z', undefined],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0099-12-31T00:00:00Z', '0099-12-31T00:00:00.000Z'],
    ['0100-01-01T00:00:00Z', '0100-01-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2023-02-29T00:00:00Z', undefined],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['1900-02-29T00:00:00Z', undefined],
    ['2026-04-31T00:00:00Z', undefined],
    ['2026-12-31T00:00:00Z', '2026-12-31T00:00:00.000Z'],
    ['2026-00-10T00:00:00Z', undefined],
    ['2026-13-10T00:00:00Z', undefined],
    ['2026-01-00T00:00:00Z', undefined],
    ['2026-01-32T00:00:00Z', undefined],
    ['2026-01-01T24:00:00Z', undefined],
    ['2026-01-01T00:60:00Z', undefined],
    ['2026-01-01T00:00:00+24:00', undefined],
    ['2026-01-01T00:00:00+00:60', undefined],
    ['2026-01-01T23:59:00+23:59', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00-01:30', '2026-01-01T01:30:00.000Z'],
    ['2026-01-01t00:00:00z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123Z'],
    ['2026-01-01T00:00:00.9999Z', '2026-01-01T00:00:00.999Z'],
    ['2026-01-01T00:00:00.1234567890Z', undefined],
    ['x2026-01-01T00:00:00Z', undefined],
    ['2026-01-01T00:00:00Zx', undefined],
  ])('%s is %s', (text, iso) => {
    expect(parseTs(text)?.toISOString()).toBe(iso)
  })

  it('is written in UTC, with a fraction only where there is one', () => {
    expect(formatTs(new Date('2026-01-01T00:00:00.000Z'))).toBe('2026-01-01T00:00:00Z')
    expect(formatTs(new Date('2026-01-01T00:00:00.120Z'))).toBe('2026-01-01T00:00:00.120Z')
    expect([toUnixSeconds(new Date(1_999)), fromUnixSeconds(2n), fromUnixSeconds(2)]).toEqual([
      1,
      new Date(2_000),
      new Date(2_000),
    ])
  })
})

describe('an id', () => {
  it('that is new is a random uuid of version 4', () => {
    expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(newId()).not.toBe(newId())
  })

  it('that is derived of a name is the same for ever: the ledger’s ids hang on it', () => {
    expect(derivedId('deposit:1:0xabc:0')).toBe(expectedId)
    expect(derivedId('deposit:1:0xabc:1')).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  })

  it('goes into calldata as 16 bytes and comes back', () => {
    expect(uuidToBytes16(uuid)).toBe('0x0198a9e07c1e7000800000000000000f')
    expect(bytes16ToUuid('0x0198a9e07c1e7000800000000000000f')).toBe(uuid.toLowerCase())
    expect(formatUuid(new Uint8Array(16))).toBe('00000000-0000-0000-0000-000000000000')
  })
})

/** Of the namespace 7b7c2f5e-3d1a-5c4e-9f0a-6d2b8e4c1f3a, by another implementation of RFC 9562. */
const expectedId = 'a708b7c3-af5b-5326-b52b-ba3f1906d47c'
