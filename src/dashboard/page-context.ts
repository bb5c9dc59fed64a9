import type { RelyingParty } from '../access/passkey-ceremony.ts'
import type { Services } from '../commands/services.ts'
import type { Cursors } from '../http/cursor.ts'
import type { Readiness } from '../http/health.ts'
import type { Limits } from '../limits/limits.ts'
import type { ShowPage, ShowPart } from './frame/page.ts'
import type { EndSession } from './session/session.ts'
import type { KnownBrowsers } from './sign-in/known-browsers.ts'

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
