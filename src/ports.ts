import type { Pool } from 'pg'
import type { Lookups } from '../projections/lookups.ts'
import type { Attempts } from './access/attempts.ts'
import type { Fingerprint } from './access/fingerprint.ts'
import type { OpenId } from './access/openid/openid.ts'
import type { KeyTypeUse } from './commands/cross-stream/key-type-use.ts'
import type { PlanCapacity } from './commands/cross-stream/plan-capacity.ts'
import type { Counting } from './commands/meters/counting.ts'
import type { DeriveId, IdPrefix } from './credentials/id.ts'
import type { RandomBytes } from './credentials/random.ts'
import type { Idempotency } from './idempotency/idempotency.ts'
import type { Execute } from './ledger/execute.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { ReadFromSns } from './mail/bounces/sns.ts'
import type { Mailing } from './mail/mailing.ts'
import type { Receipts } from './notary/receipt.ts'
import type { Providers } from './payments/providers.ts'
import type { SeatEnds } from './seats/seat-ends.ts'
import type { SignSettings } from './signing/settings.ts'
import type { Signer } from './signing/signer.ts'
import type { UsageCounter } from './usage/counter.ts'
import type { DeviceTelemetry } from './usage/device-telemetry.ts'
import type { Installs } from './usage/installs.ts'
import type { LimitHits } from './usage/limit-hits.ts'
import type { MachineReports } from './usage/machine-reports.ts'
import type { Refusals } from './usage/refusals.ts'
import type { Sightings } from './usage/sightings.ts'
import type { TokenUse } from './usage/token-use.ts'
import type { DeviceHashing } from './vault/device-hashing.ts'
import type { KeptKeys } from './vault/kept-keys.ts'
import type { KeyHashing } from './vault/key-hashing.ts'
import type { Machines } from './vault/machines.ts'
import type { PersonalKeys } from './vault/personal-keys.ts'
import type { Secrets } from './vault/secrets.ts'
import type { Subjects } from './vault/subjects.ts'
import type { CheckTarget } from './webhooks/targets.ts'
import type { SendTestEvent } from './webhooks/test-answer.ts'

/**
 * All stores, look-ups, counters and sources of time and ids of a process. Only the composition root,
 * `src/app`, uses all of them.
 */
export type AllPorts = Lookups & {
  ledger: Ledger
  execute: Execute
  /**
   * Waits until the read models show everything up to a position of the log.
   * @throws ReadModelsBehind
   */
  untilVisible: (position: bigint) => Promise<void>
  /** Connections to the read models. */
  db: Pool
  /** Counts what is used under meters. */
  counting: Counting
  keyTypes: KeyTypeUse
  planCapacity: PlanCapacity
  subjects: Subjects
  secrets: Secrets
  keptKeys: KeptKeys
  keyHashing: KeyHashing
  deviceHashing: DeviceHashing
  machineReports: MachineReports
  machines: Machines
  personalKeys: PersonalKeys
  signer: Signer
  signSettings: SignSettings
  /** The APIs of the payment providers. */
  providers: Providers
  usage: UsageCounter
  tokenUse: TokenUse
  telemetry: DeviceTelemetry
  installs: Installs
  sightings: Sightings
  seatEnds: SeatEnds
  limitHits: LimitHits
  refusals: Refusals
  /** Proofs that events are in the signed log. */
  receipts: Receipts
  attempts: Attempts
  fingerprint: Fingerprint
  /** Sign-in at providers of OpenID Connect. */
  openId: OpenId
  /** Whether events may be delivered to an address. */
  checkTarget: CheckTarget
  /** Sends a test event to a webhook endpoint. */
  sendTestEvent: SendTestEvent
  mailing: Mailing
  /** Certificates and confirmations of Amazon SNS. */
  readFromSns: ReadFromSns
  idempotency: Idempotency
  now: () => Date
  randomBytes: RandomBytes
  newId: (prefix: IdPrefix) => string
  deriveId: DeriveId
}

/** The named ports, for functions that need only those. */
export type Ports<Name extends keyof AllPorts> = Pick<AllPorts, Name>
