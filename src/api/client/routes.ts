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
  ports: Ports<
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
  activateRoute(app, ports)
  validateRoute(app, ports, authority)
  deactivateRoute(app, ports)
  beaconRoutes(app, ports, clientLimits)
  configRoute(app, ports)
  keysetRoute(app, ports)
}
