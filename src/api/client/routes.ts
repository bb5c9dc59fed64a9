import type { ZodApp } from '../../http/validation.ts'
import { activateRoute } from './activate.ts'
import type { ClientAuthority } from './admit.ts'
import { allowanceRoute } from './allowance.ts'
import { beaconRoutes } from './beacons.ts'
import { browserActivationRoutes } from './browser-activation.ts'
import { configRoute } from './config.ts'
import { consumeRoute } from './consume.ts'
import { deactivateRoute } from './deactivate.ts'
import { heartbeatRoute } from './heartbeat.ts'
import { keysetRoute } from './keyset.ts'
import type { ClientPorts } from './ports.ts'
import { relayRoutes } from './relay.ts'
import { usesRoute } from './uses.ts'
import { validateRoute } from './validate.ts'
import { withdrawnRoute } from './withdrawn.ts'

/** The client interface: called by apps on users' machines with the SDK key that they ship with. */
export function clientRoutes(
  app: ZodApp,
  ports: ClientPorts,
  authority: ClientAuthority,
  baseUrl: string,
): void {
  const { clientLimits } = authority
  activateRoute(app, ports)
  validateRoute(app, ports, authority)
  heartbeatRoute(app, ports, authority)
  deactivateRoute(app, ports)
  browserActivationRoutes(app, ports, baseUrl)
  consumeRoute(app, ports, clientLimits)
  allowanceRoute(app, ports, authority)
  usesRoute(app, ports, clientLimits)
  beaconRoutes(app, ports, clientLimits)
  configRoute(app, ports)
  keysetRoute(app, ports)
  relayRoutes(app, ports)
  withdrawnRoute(app, ports)
}
