/** The portal is closed until its vendor opens it, its accent can always be read, and a logo is a picture. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accentOnDark, contrast, isReadableAccent, portalPapers } from '../../../src/domain/portal/color.ts'
import { logoTypeOf, type PortalSettings } from '../../../src/domain/portal/events.ts'
import { builtInLanguages } from '../../../src/domain/portal/languages.ts'
import {
  closedPortal,
  decidePortal,
  evolvePortal,
  type PortalCommand,
} from '../../../src/domain/portal/portal.ts'
import {
  builtInText,
  placeholdersIn,
  portalTextKeys,
  problemWithText,
  sayIn,
} from '../../../src/domain/portal/texts.ts'
import { givenOn } from '../given.ts'

const at = '2026-03-01T12:00:00.000Z'
const given = givenOn({ initial: closedPortal, decide: decidePortal, evolve: evolvePortal })
const change = (settings: Partial<PortalSettings>): PortalCommand => ({
  type: 'ChangePortalSettings',
  tenantId: 'acme',
  settings: { ...closedPortal.settings, ...settings },
  at,
})
const changed = (settings: Partial<PortalSettings>) => {
  const { type: _, ...data } = change(settings) as Extract<PortalCommand, { type: 'ChangePortalSettings' }>
  return { type: 'PortalSettingsChanged', data } as const
}
const logo = { type: 'image/png', data: 'iVBORw0KGgo=' } as const

describe('settings', () => {
  test('are off at first', () => expect(closedPortal.settings.enabled).toBe(false))
  test('are recorded when they change, and only then', () => {
    given()
      .when(change({ enabled: true }))
      .expectEvents([changed({ enabled: true })])
    given(changed({ enabled: true }))
      .when(change({ enabled: true }))
      .expectEvents([])
  })
  test('refuse an accent that cannot be read', () =>
    given()
      .when(change({ accentColor: '#ffe14d' }))
      .expectRefusal('accent_not_readable'))
  test('a logo is replaced and removed', () => {
    const put = { type: 'ChangePortalLogo', tenantId: 'acme', logo, at } as const
    const recorded = { type: 'PortalLogoChanged', data: { tenantId: 'acme', logo, at } } as const
    given().when(put).expectEvents([recorded])
    given(recorded).when(put).expectEvents([])
    given(recorded)
      .when({ ...put, logo: null })
      .expectEvents([{ ...recorded, data: { ...recorded.data, logo: null } }])
  })
})

describe('accents', () => {
  test('have the contrast of WCAG', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  })
  test('can be read on dark pages too, and with dark text on them', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffff }), (number) => {
        const color = `#${number.toString(16).padStart(6, '0')}`
        if (!isReadableAccent(color)) return
        expect(contrast(color, '#ffffff')).toBeGreaterThanOrEqual(4.5)
        expect(contrast(accentOnDark(color), portalPapers.dark)).toBeGreaterThanOrEqual(4.5)
      }),
    ))
})

describe('texts', () => {
  test.each(builtInLanguages)('are complete in %s, with the placeholders of English', (language) => {
    for (const key of portalTextKeys) {
      expect(builtInText(language, key).trim(), key).not.toBe('')
      expect(placeholdersIn(builtInText(language, key)), key).toStrictEqual(
        placeholdersIn(builtInText('en', key)),
      )
    }
  })
  test('the vendor overrides one in one language', () => {
    const own = { de: { signOut: 'Bis bald' } }
    expect(sayIn('de', own)('signOut')).toBe('Bis bald')
    expect(sayIn('en', own)('signOut')).toBe('Sign out')
  })
  test('values are filled in once', () =>
    expect(sayIn('en', { en: { licensesLead: '{vendor}!' } })('licensesLead', { vendor: '{vendor}' })).toBe(
      '{vendor}!',
    ))
  test('unknown and missing placeholders are named', () => {
    expect(problemWithText('signOut', 'Bye {name}')).toBe('{name} is not filled in here')
    expect(problemWithText('mailText', 'Hello')).toBe('must contain {link}')
    expect(problemWithText('mailText', 'Here: {link}')).toBeUndefined()
  })
})

describe('the kind of a picture', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1')
  test('is read from its first bytes', () => {
    expect(logoTypeOf(bytes('\x89PNG\r\n\x1a\n…'))).toBe('image/png')
    expect(logoTypeOf(bytes('\xff\xd8\xff\xe0'))).toBe('image/jpeg')
    expect(logoTypeOf(bytes('RIFF\0\0\0\0WEBPVP8 '))).toBe('image/webp')
  })
  test('is none for SVG, HTML and nothing', () => {
    for (const text of ['<svg xmlns="http://www.w3.org/2000/svg"/>', '<!doctype html>', '', 'RIFF'])
      expect(logoTypeOf(bytes(text))).toBeUndefined()
  })
})
