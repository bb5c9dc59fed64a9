import type { RelyingParty } from '../../access/passkey-ceremony.ts'
import type { Services } from '../../commands/services.ts'
import type { Limits } from '../../limits/limits.ts'
import type { Cursors } from '../cursor.ts'
import type { Readiness } from '../system/health.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import type { ShowPage, ShowPart } from './page.ts'
import type { EndSession } from './session.ts'

/** What every page of the dashboard works with. */
export type PageContext = {
  services: Services
  cursors: Cursors
  /** Undefined where browsers allow no passkeys. */
  party: RelyingParty | undefined
  show: ShowPage
  showPart: ShowPart
  endSession: EndSession
  browsers: KnownBrowsers
  readiness: () => Promise<Readiness>
  limits: Limits
  baseUrl: string
}
