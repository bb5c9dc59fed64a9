import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { Refusal } from '../refusal.ts'
import { isReadableAccent } from './color.ts'
import type { PortalEvent, PortalLogo, PortalSettings } from './events.ts'
import { type AddedLanguage, type AddedLanguages, isBuiltIn } from './languages.ts'

/** The portal of a vendor's customers. */
export type Portal = {
  /** Undefined before the first settings. */
  tenantId: string | undefined
  settings: PortalSettings
  logo: PortalLogo | null
  /** Beside the built-in ones. */
  languages: AddedLanguages
  updatedAt: string | null
}

export type PortalCommand =
  | { type: 'ChangePortalSettings'; tenantId: string; settings: PortalSettings; at: string }
  | { type: 'ChangePortalLogo'; tenantId: string; logo: PortalLogo | null; at: string }
  | ({ type: 'AddLanguage'; tenantId: string; tag: string; at: string } & AddedLanguage)
  | { type: 'RemoveLanguage'; tenantId: string; tag: string; at: string }

/** Where the customers of a tenant find its portal. */
export const portalUrl = (baseUrl: string, tenantId: string): string => `${baseUrl}/portal/${tenantId}`

/** A portal is closed until its vendor opens it. */
export const closedPortal: Portal = {
  tenantId: undefined,
  settings: { enabled: false, name: null, supportEmail: null, accentColor: null, texts: {} },
  logo: null,
  languages: {},
  updatedAt: null,
}

/** The state of a portal is read whole. */
const mostLanguages = 20

/**
 * What is already so changes nothing.
 * @throws Refusal `accent_not_readable`, `language_built_in`, `too_many_languages`
 */
export function decidePortal(portal: Portal, command: PortalCommand): PortalEvent[] {
  switch (command.type) {
    case 'ChangePortalSettings': {
      const { type: _, ...data } = command
      const { accentColor } = data.settings
      if (accentColor !== null && !isReadableAccent(accentColor)) throw new Refusal('accent_not_readable')
      return sameJson(portal.settings, data.settings) ? [] : [{ type: 'PortalSettingsChanged', data }]
    }
    case 'ChangePortalLogo': {
      const { type: _, ...data } = command
      return sameJson(portal.logo, data.logo) ? [] : [{ type: 'PortalLogoChanged', data }]
    }
    case 'AddLanguage': {
      const { type: _, ...data } = command
      const { tag, name, texts } = data
      if (isBuiltIn(tag)) throw new Refusal('language_built_in')
      const known = portal.languages[tag]
      if (!known && Object.keys(portal.languages).length >= mostLanguages)
        throw new Refusal('too_many_languages')
      return sameJson(known, { name, texts }) ? [] : [{ type: 'LanguageAdded', data }]
    }
    case 'RemoveLanguage': {
      const { type: _, ...data } = command
      if (isBuiltIn(data.tag)) throw new Refusal('language_built_in')
      return portal.languages[data.tag] ? [{ type: 'LanguageRemoved', data }] : []
    }
  }
}

/** Never refuses: what is recorded has happened. */
export function evolvePortal(portal: Portal, event: PortalEvent): Portal {
  const { tenantId, at } = event.data
  const changed = { ...portal, tenantId, updatedAt: at }
  switch (event.type) {
    case 'PortalSettingsChanged':
      return { ...changed, settings: event.data.settings }
    case 'PortalLogoChanged':
      return { ...changed, logo: event.data.logo }
    case 'LanguageAdded': {
      const { tag, name, texts } = event.data
      return { ...changed, languages: { ...portal.languages, [tag]: { name, texts } } }
    }
    case 'LanguageRemoved': {
      const { [event.data.tag]: _, ...languages } = portal.languages
      return { ...changed, languages }
    }
  }
}

/** The rules of portal streams, one for each tenant. */
export const portals: Decider<Portal, PortalCommand, 'portal'> = {
  category: 'portal',
  initial: closedPortal,
  decide: decidePortal,
  evolve: evolvePortal,
}
