import { licenseChanges } from '../../src/dashboard/license-changes/changes.ts'
import { meterChanges } from '../../src/dashboard/license-changes/meters.ts'
import { dashboardRoutes, isGuarded, nameOf, type Route } from '../dashboard/routes.ts'
import type { TestApi } from '../harness/api.ts'
import {
  customerId,
  deliveryId,
  endpointId,
  languageTag,
  licenseId,
  providerId,
  replayId,
  resellerId,
  roleId,
  saleId,
  type Things,
  type Which,
} from './foreign-ids.ts'

const none = '0'.repeat(26)

/** Whose id each of these has as its first parameter; the first that matches counts. */
const ids: readonly [path: RegExp, id: (which: Which, things: Things) => string][] = [
  [/\/customers\/:id/, customerId],
  [/\/licenses\/:id/, licenseId],
  [/\/deliveries\/:id/, deliveryId],
  [/\/resellers\/:id/, resellerId],
  [/\/members\/roles\/:id/, roleId],
  [/\/sales\/:id/, saleId],
  [/\/sign-in\/:id/, providerId],
  [/\/webhooks\/replays\/:id/, replayId],
  [/\/webhooks\/:id/, endpointId],
  [/\/products\/:id/, (which) => which],
  [/\/languages\/:tag/, languageTag],
  [/\/mails\/:template/, (which) => `expired.${which}.*`],
  [/\/approvals\/:id/, (which, { confirmation }) => (which === 'owned' ? confirmation : `cnf_${none}`)],
  [/\/tokens\/:id/, (which, { token }) => (which === 'owned' ? token : `tok_${none}`)],
  [/\/members\/:id/, (which, { member }) => (which === 'owned' ? member : `mem_${none}`)],
]

/** Parameters that are the same for every tenant. The mailbox of a host is none of a tenant's. */
const shared = /\/integrations\/:provider|\/insights\/:file|\/texts\/:language|\/mailbox\/:id/

/** Each page and form of the dashboard with an id in its address, with the same request for an unknown id. */
export const pagesWithIds = (app: TestApi['app']): Route[] =>
  dashboardRoutes(app).filter(
    (route) => isGuarded(route) && route.path.includes('/:') && !shared.test(route.path),
  )

/** The addresses of a route: one for each change, where it has several. */
export function addressesOf(route: Route, which: Which, things: Things): string[] {
  const id = ids.find(([path]) => path.test(route.path))?.[1]
  if (!id) throw new Error(`${nameOf(route)} has an id that is not in the table`)
  const path = route.path
    .replace(/:(?:id|tag|template)/, id(which, things))
    .replace(':meter', 'calls')
    .replace(':keyType', 'owned-type')
    .replace(':sequence', '1')
    .replace(':action', 'revoke')
  if (!path.includes(':change')) return [path]
  const ofLicenses = route.path.startsWith('/dashboard/licenses/') ? licenseChanges : []
  return [...ofLicenses, ...meterChanges].map(({ name }) => path.replace(':change', name))
}
