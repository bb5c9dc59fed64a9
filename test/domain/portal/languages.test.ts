// cspell:ignore Verkäufer Rien março nçais
/** A vendor adds languages with files of texts; what they lack is in English, and what cannot be used is refused. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LanguageFile, languagesOf } from '../../../src/domain/portal/language-file.ts'
import {
  acceptedLanguage,
  canonicalTag,
  dayIn,
  directionOf,
  isWritable,
  languageAmong,
  tagOf,
} from '../../../src/domain/portal/languages.ts'
import {
  closedPortal,
  decidePortal,
  evolvePortal,
  type PortalCommand,
} from '../../../src/domain/portal/portal.ts'
import { sayIn } from '../../../src/domain/portal/texts.ts'
import { givenOn } from '../given.ts'

const at = '2026-03-01T12:00:00.000Z'
const given = givenOn({ initial: closedPortal, decide: decidePortal, evolve: evolvePortal })
const texts = { signOut: 'Se déconnecter' }
const data = (tag = 'fr', more = {}) => ({ tenantId: 'acme', tag, name: 'Français', texts, at, ...more })
const add = (tag?: string, more?: object): PortalCommand => ({ type: 'AddLanguage', ...data(tag, more) })
const added = (tag?: string, more?: object) => ({ type: 'LanguageAdded', data: data(tag, more) }) as const
const remove = (tag = 'fr'): PortalCommand => ({ type: 'RemoveLanguage', tenantId: 'acme', tag, at })
const removed = { type: 'LanguageRemoved', data: { tenantId: 'acme', tag: 'fr', at } } as const

describe('a language', () => {
  test('is added, and replaced only by other texts or another name', () => {
    given().when(add()).expectEvents([added()])
    given(added()).when(add()).expectEvents([])
    given(added())
      .when(add('fr', { texts: {} }))
      .expectEvents([added('fr', { texts: {} })])
  })
  test('is removed once, and can be added again', () => {
    given(added()).when(remove()).expectEvents([removed])
    given().when(remove()).expectEvents([])
    given(added(), removed).when(remove()).expectEvents([])
    given(added(), removed).when(add()).expectEvents([added()])
  })
  test('that is built in is neither replaced nor removed', () => {
    given().when(add('en')).expectRefusal('language_built_in')
    given().when(remove('de')).expectRefusal('language_built_in')
  })
  test('is one of 20, which can still be replaced', () => {
    const tags = Array.from('abcdefghijklmnopqrst', (letter) => `a${letter}`)
    const full = tags.map((tag) => added(tag))
    given(...full)
      .when(add('fr'))
      .expectRefusal('too_many_languages')
    given(...full)
      .when(add('aa', { name: 'Afar' }))
      .expectEvents([added('aa', { name: 'Afar' })])
  })
  test('leaves the settings and the logo of the portal', () => {
    const before = evolvePortal(closedPortal, {
      type: 'PortalLogoChanged',
      data: { tenantId: 'acme', logo: { type: 'image/png', data: 'iVBORw0KGgo=' }, at },
    })
    const after = [added(), removed].reduce(evolvePortal, before)
    expect(after).toStrictEqual(before)
  })
})

describe('a file', () => {
  const problems = (written: Record<string, string>) =>
    LanguageFile.safeParse({ name: 'Français', texts: written }).error?.issues.map(
      ({ path, message }) => `${path.slice(1).join('.')} ${message}`,
    ) ?? []

  test('may be each that the portal gives out', () => {
    for (const { name, texts: all } of languagesOf({}, {}))
      expect(LanguageFile.parse({ name, texts: all })).toStrictEqual({ name, texts: all })
  })
  test.each([
    ['nothing', 'Rien', 'no text has this name; take the names from GET /v1/portal/languages/en'],
    ['toString', 'Rien', 'no text has this name; take the names from GET /v1/portal/languages/en'],
    ['mail.nothing', 'Rien', 'no text has this name; take the names from GET /v1/portal/languages/en'],
    ['signOut', ' ', 'must not be empty; leave it out, and it is in English'],
    [
      'signOut',
      '{email}',
      '{email} is not filled in here: this text has no placeholders, which are not translated',
    ],
    [
      'licensesLead',
      '{Verkäufer}',
      '{Verkäufer} is not filled in here: this text has {vendor}, which are not translated',
    ],
    ['mailText', 'Bonjour', 'must contain {link}'],
    [
      'mail.subject',
      'Clé {{license_key}}',
      '{{license_key}} is not filled in here: this text has {{product_name}}, which are not translated',
    ],
    [
      'news.expiredSubject',
      '{{product}}',
      '{{product}} is not filled in here: this text has {product}, which are not translated',
    ],
    [
      'news.renew',
      'a\u0007b',
      'must be well-formed text without control characters other than line breaks and tabs',
    ],
    [
      'news.renew',
      '\ud800',
      'must be well-formed text without control characters other than line breaks and tabs',
    ],
  ])('with %s: %j is refused', (key, written, message) =>
    expect(problems({ [key]: written })).toStrictEqual([`${key} ${message}`]),
  )
  test('is refused with a text, or with texts, that are too long', () => {
    expect(problems({ signOut: 'x'.repeat(2001) })).toHaveLength(1)
    const { texts: all } = languagesOf({}, {})[0] ?? { texts: {} }
    const long = Object.fromEntries(Object.keys(all).map((key) => [key, `{link}${'x'.repeat(1900)}`]))
    expect(problems(long)).toContain(' all texts together must be at most 100,000 characters')
  })
  test('is given out without texts that no longer exist', () =>
    expect(
      languagesOf({}, { fr: { name: 'Français', texts: { ...texts, gone: 'x' } } })[2]?.texts,
    ).toStrictEqual(texts))
  test('lacks what it does not name', () => {
    const own = { en: { signOut: 'Bye' } }
    const [english, german, french] = languagesOf(own, { fr: { name: 'Français', texts } })
    expect(english).toMatchObject({ tag: 'en', builtIn: true, missing: 0, texts: { signOut: 'Bye' } })
    expect(german).toMatchObject({ tag: 'de', builtIn: true, missing: 0 })
    const count = Object.keys(english?.texts ?? {}).length
    expect(french).toStrictEqual({ tag: 'fr', name: 'Français', builtIn: false, missing: count - 1, texts })
  })
})

test('what a language lacks is in English, of which the vendor may have an own text', () => {
  const own = { en: { cancel: 'Never mind' }, de: { cancel: 'Lassen' } }
  const say = sayIn('fr', own, texts)
  expect([say('signOut'), say('cancel'), say('save')]).toStrictEqual(['Se déconnecter', 'Never mind', 'Save'])
  const austrian = sayIn('de-AT', own, texts)
  expect([austrian('cancel'), austrian('save')]).toStrictEqual(['Lassen', sayIn('de', {})('save')])
})

describe('tags', () => {
  test.each([
    ['fr', 'fr'],
    ['pt-br', 'pt-BR'],
    ['PT_br', 'pt-BR'],
    ['es-419', 'es-419'],
    ['zh-Hant-TW', 'zh-TW'],
    ['iw', 'he'],
    ['auto', undefined],
    ['', undefined],
    [null, undefined],
    ['*', undefined],
    ['x-secret', undefined],
  ])('of %s: %s', (locale, tag) => expect(tagOf(locale)).toBe(tag))

  test('are recorded in their canonical form, with no more than a region', () => {
    expect(['pt-br', 'IW', 'fr-fr-u-ca-buddhist', 'zh-Hant', 'x', ''].map(canonicalTag)).toStrictEqual([
      'pt-BR',
      'he',
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
  test('are of languages in which days and numbers can be written', () => {
    expect(['fr', 'pt-BR', 'ar', 'xx', 'pt-br', 'nonsense'].filter(isWritable)).toStrictEqual([
      'fr',
      'pt-BR',
      'ar',
    ])
    expect(dayIn('fr', at)).toBe('1 mars 2026')
    expect(dayIn('pt-BR', at)).toBe('1 de março de 2026')
  })
  test('say whether a page is written from right to left', () =>
    expect(['en', 'fr', 'ar', 'he'].map(directionOf)).toStrictEqual([undefined, undefined, 'rtl', 'rtl']))
})

describe('the language of a page', () => {
  const vendor = { 'pt-BR': {}, fr: {} }
  test.each([
    ['fr-CA, en', 'fr'],
    ['pt-PT', 'pt-BR'],
    ['nl, de-AT;q=0.9', 'de'],
    ['en;q=0.5, FR;q=0.8', 'fr'],
    ['fr;q=0, de', 'de'],
    ['nl', undefined],
    ['', undefined],
  ])('with Accept-Language %j: %s', (accepted, language) =>
    expect(acceptedLanguage(accepted, vendor)).toBe(language),
  )
  test('is the first wanted one that the portal has, else English', () => {
    expect(languageAmong(vendor, [null, 'nl', 'fr-BE', 'de'])).toBe('fr')
    expect(languageAmong({}, ['fr', 'de-CH'])).toBe('de')
    expect(languageAmong({}, ['fr', undefined])).toBe('en')
  })
  test('is always one of the portal, whatever a browser sends', () =>
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const found = languageAmong(vendor, [one, acceptedLanguage(other, vendor)])
        expect(['en', 'de', 'pt-BR', 'fr']).toContain(found)
      }),
    ))
})
