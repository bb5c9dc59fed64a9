import type { RelyingParty } from '../access/passkey-ceremony.ts'
import type { Cursors } from '../http/cursor.ts'
import type { Readiness } from '../http/health.ts'
import type { Limits } from '../limits/limits.ts'
import type { Ports } from '../ports.ts'
import type { ShowPage, ShowPart } from './frame/page.ts'
import type { EndSession } from './session/session.ts'
import type { KnownBrowsers } from './sign-in/failures.ts'

/** What every route of the dashboard uses. */
export type PageContext = {
  ports: Ports<
    | 'attempts'
    | 'checkTarget'
    | 'db'
    | 'deriveId'
    | 'execute'
    | 'findForRuntime'
    | 'findProduct'
    | 'fingerprint'
    | 'idempotency'
    | 'keptKeys'
    | 'keyHashing'
    | 'keyTypes'
    | 'ledger'
    | 'limitHits'
    | 'mailing'
    | 'newId'
    | 'now'
    | 'planCapacity'
    | 'providers'
    | 'randomBytes'
    | 'receipts'
    | 'refusals'
    | 'secrets'
    | 'sendTestEvent'
    | 'signer'
    | 'subjects'
    | 'untilVisible'
    | 'usage'
  >
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
