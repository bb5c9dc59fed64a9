import type { FilePorts } from '../commands/devices/files.ts'
import type { RelayPorts } from '../commands/devices/relays.ts'
import type { Ports } from '../ports.ts'
import type { Cookies } from './cookies.ts'

/** What the pages of a vendor's customers use. */
type PortalPorts = FilePorts &
  RelayPorts &
  Ports<
    | 'attempts'
    | 'deriveId'
    | 'fingerprint'
    | 'keptKeys'
    | 'ledger'
    | 'mailing'
    | 'openId'
    | 'personalKeys'
    | 'providers'
    | 'secrets'
    | 'subjects'
  >

/** What every route of the portal uses. */
export type PortalContext = {
  ports: PortalPorts
  cookies: Cookies
  baseUrl: string
  /** The token for the forms of a browser that has just been given its cookie. */
  tokenOf: (tenantId: string, browser: string) => string
}

/** Pages are no part of the described API. */
export const page = { config: { foreignQuery: 'in links' }, schema: { hide: true } } as const
