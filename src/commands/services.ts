import type { Pool } from 'pg'
import type { Lookups } from '../../projections/lookups.ts'
import type { Attempts } from '../access/attempts.ts'
import type { Fingerprint } from '../access/fingerprint.ts'
import type { DeriveId, IdPrefix } from '../credentials/id.ts'
import type { RandomBytes } from '../credentials/random.ts'
import type { Idempotency } from '../idempotency/idempotency.ts'
import type { Execute, Resumable } from '../ledger/execute.ts'
import type { Cause, Ledger } from '../ledger/ledger.ts'
import type { Mailing } from '../mail/mailing.ts'
import type { Providers } from '../payments/providers.ts'
import type { SignSettings } from '../signing/settings.ts'
import type { Signer } from '../signing/signer.ts'
import type { UsageCounter } from '../usage/counter.ts'
import type { DeviceTelemetry } from '../usage/device-telemetry.ts'
import type { Installs } from '../usage/installs.ts'
import type { LimitHits } from '../usage/limit-hits.ts'
import type { TokenUse } from '../usage/token-use.ts'
import type { Machines } from '../vault/machines.ts'
import type { Secrets } from '../vault/secrets.ts'
import type { Subjects } from '../vault/subjects.ts'
import type { CheckTarget } from '../webhooks/resolve.ts'
import type { KeyTypeUse } from './cross-stream/key-type-use.ts'
import type { PlanRoom } from './cross-stream/plan-room.ts'

/** Everything that commands and edges work with; built once, in `bin`. */
export type Services = Lookups & {
  ledger: Ledger
  execute: Execute
  /**
   * Returns when the read models show everything up to a position of the log.
   * @throws ReadModelsBehind
   */
  untilVisible: (position: bigint) => Promise<void>
  /** Connections to the read models. */
  db: Pool
  keyTypes: KeyTypeUse
  planRoom: PlanRoom
  subjects: Subjects
  secrets: Secrets
  machines: Machines
  signer: Signer
  signSettings: SignSettings
  /** The payment providers' interfaces. */
  providers: Providers
  usage: UsageCounter
  tokenUse: TokenUse
  telemetry: DeviceTelemetry
  installs: Installs
  limitHits: LimitHits
  attempts: Attempts
  fingerprint: Fingerprint
  /** Whether events may be delivered to an address. */
  checkTarget: CheckTarget
  mailing: Mailing
  idempotency: Idempotency
  now: () => Date
  randomBytes: RandomBytes
  newId: (prefix: IdPrefix) => string
  deriveId: DeriveId
}

/** Where a command comes from: it stands in the metadata of every event that it causes. */
export type Origin = {
  requestId: string
  actor: string
  /** What led to it, when that is something else than the request: a confirmation, an event. */
  causationId?: string
  /** The first request of the chain, when that is another one. */
  correlationId?: string
  /**
   * Of a request with an Idempotency-Key, or the execution of a confirmation: whether an attempt before it may have got
   * part of the way, and by which id of the cause such attempts are known.
   */
  run?: Resumable
}

/** A request is the beginning of its own chain of causes, unless its origin says otherwise. */
export function causeOf(origin: Origin, at: string): Cause {
  const { requestId, actor, causationId = requestId, correlationId = requestId } = origin
  return { requestId, actor, causationId, correlationId, at }
}

/** Now, as the log writes it. */
export function momentOf(services: Pick<Services, 'now'>): string {
  const ms = services.now().getTime()
  if (ms !== spelled.ms) spelled = { ms, text: new Date(ms).toISOString() }
  return spelled.text
}

/** The last moment that was spelled out, which costs as much as a hash: many calls are of one millisecond. */
let spelled = { ms: Number.NaN, text: '' }
