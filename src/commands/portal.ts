import { findPortal, type ShownPortal } from '../../projections/portal.ts'
import type { PortalLogo, PortalSettings } from '../domain/portal/events.ts'
import { portals } from '../domain/portal/portal.ts'
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
