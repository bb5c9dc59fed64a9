/**
 * Names, sets and moments have one canonical form each, so that equal values are equal text; no id can
 * contain the character that joins ids.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sameJson } from '../../src/domain/equality.ts'
import { Entitlements } from '../../src/domain/products/key-type.ts'
import { Actor } from '../../src/domain/recorded.ts'
import { asciiEmail, EmailAddress, Metadata, Moment, Sealed, Slug, slugOf } from '../../src/domain/values.ts'
import { anyText } from './any-text.ts'

describe('a slug', () => {
  test.each(['a', '7', 'my-app-2', 'a--b', 'a'.repeat(63)])('may be %s', (slug) =>
    expect(Slug.safeParse(slug).success).toBe(true),
  )
  test.each(['', '-a', 'a-', 'A', 'a b', 'a|b', 'a.b', 'é', 'a\n', 'a'.repeat(64)])('is never %j', (slug) =>
    expect(Slug.safeParse(slug).success).toBe(false),
  )
})

describe('the slug of a name', () => {
  test.each([
    ['My App 2!', 'my-app-2'],
    ['  Editor  ', 'editor'],
    ['C++ & Rust', 'c-rust'],
    ['Ｆｕｌｌ width', 'full-width'],
    ['Café', 'cafe'],
    ['!!!', ''],
    ['', ''],
    [`${'a'.repeat(62)}-b`, 'a'.repeat(62)],
  ])('%j becomes %j', (name, slug) => expect(slugOf(name)).toBe(slug))

  test('an accent does not split a word', () => expect(slugOf('Müller')).toBe('muller'))

  test('is empty or a slug, for any name', () =>
    fc.assert(
      fc.property(anyText, (name) => {
        const slug = slugOf(name)
        expect(slug === '' || Slug.safeParse(slug).success).toBe(true)
      }),
    ))

  test('is the slug itself when the name is one', () =>
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/), (name) => {
        expect(slugOf(name)).toBe(name.replace(/-+/g, '-'))
      }),
    ))
})

describe('a moment', () => {
  test('has milliseconds and ends in Z', () =>
    expect(Moment.safeParse('2028-02-29T23:59:59.000Z').success).toBe(true))
  test.each([
    '2026-03-01T12:00:00Z',
    '2026-03-01T12:00:00.0Z',
    '2026-03-01T12:00:00.000000Z',
    '2026-03-01T12:00:00.000+00:00',
    '2026-03-01T12:00:00.000',
    '2026-03-01 12:00:00.000Z',
    '2026-02-29T12:00:00.000Z',
    '2026-03-01',
  ])('is never %s, since moments are compared as text', (text) =>
    expect(Moment.safeParse(text).success).toBe(false),
  )
})

describe('a set of entitlements', () => {
  test.each([[[]], [['export']], [['a', 'b:c', 'd.e_f-g']]])('may be %j', (list) =>
    expect(Entitlements.safeParse(list).success).toBe(true),
  )
  test.each([
    [['b', 'a']],
    [['a', 'a']],
    [['A']],
    [['']],
    [['a|b']],
    [['a,b']],
    [['-a']],
    [['a'.repeat(65)]],
  ])('is never %j', (list) => expect(Entitlements.safeParse(list).success).toBe(false))
  test('holds at most a hundred', () => {
    const many = Array.from({ length: 101 }, (_, index) => `e${String(index).padStart(3, '0')}`)
    expect(Entitlements.safeParse(many.slice(0, 100)).success).toBe(true)
    expect(Entitlements.safeParse(many).success).toBe(false)
  })
})

test('metadata holds at most fifty pairs of bounded text', () => {
  const pairs = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '']))
  const fits = (metadata: unknown) => Metadata.safeParse(metadata).success
  expect(fits(pairs(50))).toBe(true)
  expect(fits(pairs(51))).toBe(false)
  expect(fits({ ['k'.repeat(64)]: 'v'.repeat(1024) })).toBe(true)
  expect(fits({ ['k'.repeat(65)]: '' })).toBe(false)
  expect(fits({ '': '' })).toBe(false)
  expect(fits({ k: 'v'.repeat(1025) })).toBe(false)
  expect(fits({ k: 1 })).toBe(false)
})

test('an address in the clear never passes for a sealed one', () => {
  expect(Sealed.safeParse('sealed.1.abc').success).toBe(true)
  expect(Sealed.safeParse('ada@example.com').success).toBe(false)
})

test('an actor names its kind', () => {
  for (const kind of ['token', 'member', 'provider', 'operator', 'system']) {
    expect(Actor.safeParse(`${kind}:x`).success).toBe(true)
  }
  for (const actor of ['token', 'token:', 'robot:x', ':x', ' token:x']) {
    expect(Actor.safeParse(actor).success).toBe(false)
  }
})

describe('two values of plain JSON', () => {
  test('are the same with any order of keys, at any depth', () =>
    expect(
      sameJson(
        { a: 1, b: { c: [1, { d: 2, e: 3 }], f: null } },
        { b: { f: null, c: [1, { e: 3, d: 2 }] }, a: 1 },
      ),
    ).toBe(true))
  test('are the same when one lacks a field that is undefined in the other', () =>
    expect(sameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true))
  test.each([
    [{ a: null }, {}],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: '1' }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [[], {}],
    [0, false],
  ])('differ: %j and %j', (left, right) => {
    expect(sameJson(left, right)).toBe(false)
    expect(sameJson(right, left)).toBe(false)
  })
  test('are the same after any round trip through text', () =>
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'small' }), (value) => {
        expect(sameJson(value, JSON.parse(JSON.stringify(value)) as unknown)).toBe(true)
      }),
    ))
})

describe('an email address', () => {
  test.each([
    ['ada@example.com', 'ada@example.com'],
    ['Ada.L@Example.COM', 'Ada.L@Example.COM'],
    ['a&b@example.com', 'a&b@example.com'],
    ['a!b@example.com', 'a!b@example.com'],
    ["#$%&'*+/=?^_`{|}~-@example.com", "#$%&'*+/=?^_`{|}~-@example.com"],
    ['ada@localhost', 'ada@localhost'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada@BU\u0308CHER.example', 'ada@xn--bcher-kva.example'],
    ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    ['a&b@例え.テスト', 'a&b@xn--r8jz45g.xn--zckzah'],
    ['ada@faß.example', 'ada@xn--fa-hia.example'],
    [`${'a'.repeat(242)}@example.com`, `${'a'.repeat(242)}@example.com`],
  ])('may be %s', (email, ascii) => {
    expect(asciiEmail(email)).toBe(ascii)
    expect(EmailAddress.safeParse(email).success).toBe(true)
  })

  test.each([
    '',
    'ada',
    '@example.com',
    'ada@',
    'ada@example..com',
    'ada@-example.com',
    'ada@exa_mple.com',
    'ada@b@example.com',
    'ada lovelace@example.com',
    ' ada@example.com',
    'ada@example.com\n',
    'ädä@example.com',
    '"ada"@example.com',
    'ada@[192.0.2.1]',
    'ada@bücher.example/path',
    'ada@bücher.example:25',
    'ada@bücher%2eexample',
    'ada@b\u202eücher.example',
    'ada@bü cher.example',
    'ada@bücher.example@example.com',
    `${'a'.repeat(243)}@example.com`,
  ])('is never %j', (email) => {
    expect(asciiEmail(email)).toBeUndefined()
    expect(EmailAddress.safeParse(email).success).toBe(false)
  })

  test('is its own ASCII form once it has one', () =>
    fc.assert(
      fc.property(fc.oneof(anyText, fc.emailAddress()), (email) => {
        const ascii = asciiEmail(email)
        if (ascii !== undefined) expect(asciiEmail(ascii)).toBe(ascii)
      }),
    ))
})
