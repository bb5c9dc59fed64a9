import { findPortal, type ShownPortal } from '../../projections/portal.ts'
import type { PortalLogo, PortalSettings } from '../domain/portal/events.ts'
import { type AddedLanguage, isBuiltIn, type PortalLanguage } from '../domain/portal/languages.ts'
import { portals } from '../domain/portal/portal.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

/**
 * Opens or closes the portal of a tenant's customers, and changes how it looks.
 * @throws Refusal `accent_not_readable`
 */
export async function changePortal(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  settings: PortalSettings,
  origin: Origin,
): Promise<ShownPortal> {
  const at = momentOf(ports)
  const command = { type: 'ChangePortalSettings', tenantId, settings, at } as const
  await ports.execute(portals, tenantId, command, causeOf(origin, at))
  return findPortal(ports.db, tenantId)
}

/** Replaces the logo of the portal; null removes it. */
export async function changePortalLogo(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  logo: PortalLogo | null,
  origin: Origin,
): Promise<ShownPortal> {
  const at = momentOf(ports)
  const command = { type: 'ChangePortalLogo', tenantId, logo, at } as const
  await ports.execute(portals, tenantId, command, causeOf(origin, at))
  return findPortal(ports.db, tenantId)
}

/**
 * Adds a language, or replaces its name and texts.
 * @throws Refusal `language_built_in`, `too_many_languages`
 */
export async function addLanguage(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  language: AddedLanguage & { tag: PortalLanguage },
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const command = { type: 'AddLanguage', tenantId, ...language, at } as const
  await ports.execute(portals, tenantId, command, causeOf(origin, at))
}

/**
 * Removes a language. Settings, templates and sales that name it stay as they are: what is written next is in another language of
 * the portal, as if the customer's were not known.
 * @throws Refusal `language_built_in`
 */
export async function removeLanguage(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  tag: PortalLanguage,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  await ports.execute(portals, tenantId, { type: 'RemoveLanguage', tenantId, tag, at }, causeOf(origin, at))
}

/** @throws Refusal `language_unknown` for a language that is neither built in nor added */
export async function requireLanguage(
  { db }: Ports<'db'>,
  tenantId: string,
  tag: PortalLanguage,
): Promise<void> {
  if (isBuiltIn(tag)) return
  const { addedLanguages } = await findPortal(db, tenantId)
  if (!Object.hasOwn(addedLanguages, tag)) throw new Refusal('language_unknown')
}
