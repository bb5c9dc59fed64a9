import type { RelyingParty } from '../access/passkey-ceremony.ts'
import type { Cursors } from '../http/cursor.ts'
import type { Readiness } from '../http/health.ts'
import type { VendorPorts } from '../http/ports.ts'
import type { Limits } from '../limits/limits.ts'
import type { ShowPage, ShowPart } from './frame/page.ts'
import type { EndSession } from './session/session.ts'
import type { KnownBrowsers } from './sign-in/failures.ts'

/** What every route of the dashboard uses. */
export type PageContext = {
  ports: VendorPorts
  cursors: Cursors
  /** Undefined when browsers do not allow passkeys on this origin. */
  party: RelyingParty | undefined
  show: ShowPage
  showPart: ShowPart
  endSession: EndSession
  browsers: KnownBrowsers
  readiness: () => Promise<Readiness>
  limits: Limits
  baseUrl: string
}
