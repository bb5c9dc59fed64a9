import type { ZodApp } from '../../http/zod-app.ts'
import type { Ports } from '../../ports.ts'
import { activateRoute } from './activate.ts'
import type { ClientAuthority } from './admit.ts'
import { beaconRoutes } from './beacons.ts'
import { configRoute } from './config.ts'
import { deactivateRoute } from './deactivate.ts'
import { keysetRoute } from './keyset.ts'
import { validateRoute } from './validate.ts'

/** The client interface: called by apps on users' machines with the SDK key that they ship with. */
export function clientRoutes(
  app: ZodApp,
  services: Ports<
    | 'db'
    | 'execute'
    | 'findInstall'
    | 'findInstance'
    | 'findForInstanceValidate'
    | 'installs'
    | 'keyHashing'
    | 'machines'
    | 'newId'
    | 'now'
    | 'planCapacity'
    | 'randomBytes'
    | 'receipts'
    | 'refusals'
    | 'secrets'
    | 'signSettings'
    | 'signer'
    | 'telemetry'
    | 'usage'
  >,
  authority: ClientAuthority,
): void {
  const { clientLimits } = authority
  activateRoute(app, services)
  validateRoute(app, services, authority)
  deactivateRoute(app, services)
  beaconRoutes(app, services, clientLimits)
  configRoute(app, services)
  keysetRoute(app, services)
}
