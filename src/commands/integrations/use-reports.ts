import { findIntegration } from '../../../projections/integrations.ts'
import { sha256 } from '../../credentials/sha256.ts'
import type { Integration } from '../../domain/integrations/integration.ts'
import { amountOf } from '../../domain/meters/amount.ts'
import { nextReport } from '../../domain/meters/reports.ts'
import { Refusal } from '../../domain/refusal.ts'
import { ProviderRefused } from '../../payments/errors.ts'
import type { CardAccess } from '../../payments/stripe/api.ts'
import type { Ports } from '../../ports.ts'
import {
  beginReport,
  endReport,
  knowBuyer,
  linesAfter,
  noteProblem,
  noteRefused,
  noteSent,
  type Progress,
  passOver,
  progressOf,
  type ReportedMeter,
  type Sending,
} from '../../usage/use-reports.ts'
import { momentOf, type Origin } from '../origin.ts'
import { changeIntegration } from './integrations.ts'
import { cardAccessFor } from './offered.ts'

/**
 * Switches on or off that uses are reported to the card provider's meters. Only what is used from then on is.
 * @throws Refusal `integration_not_connected`
 */
export const switchUseReports = (
  ports: Ports<'execute' | 'now' | 'secrets'>,
  tenantId: string,
  on: boolean,
  origin: Origin,
): Promise<Integration> =>
  changeIntegration(ports, tenantId, 'stripe', origin, (at) => ({ type: 'SwitchUseReports', on, at }))

const day = 86_400_000
/** The provider knows the name of a report for a day. An hour is left for its way. */
const knownForMs = 23 * 3_600_000
/** The provider takes what was used within 35 days. */
const takenForMs = 34 * day

/**
 * Reports what was used under a meter since its last report, in reports of an hour each.
 *
 * A report is kept before it is sent, with the name under which the provider counts it once: after a crash, and in another process, the same
 * one is sent again. One without an answer for almost a day is given up, since the provider may have forgotten its name: it is shown as not
 * reported, so that nothing is billed twice. So is what is older than the provider takes.
 * @throws ProviderRefused, ProviderUnavailable, Refusal `platform_key_missing`, `platform_key_refused`: the rest is reported later
 */
export async function reportUses(
  ports: Ports<'db' | 'now' | 'providers' | 'secrets'>,
  meter: ReportedMeter,
): Promise<void> {
  const integration = await findIntegration(ports.db, meter.tenantId, 'stripe')
  if (integration?.status !== 'connected' || integration.usesReportedSince === undefined) return
  try {
    const access = await cardAccessFor(ports, integration)
    if (!access) throw new Refusal('integration_not_connected')
    for (;;) {
      const progress = await progressOf(ports.db, meter)
      if (progress.sending) await deliver(ports, meter, access, { ...progress, sending: progress.sending })
      else if (!(await prepare(ports, meter, progress))) return
    }
  } catch (error) {
    await noteProblem(ports.db, meter.stream, wordsOf(error))
    throw error
  }
}

/**
 * Keeps the next report, or passes over what is not to be reported, unless another process has.
 * @returns whether there was anything
 */
async function prepare(
  { db, now }: Ports<'db' | 'now'>,
  { stream, since }: ReportedMeter,
  { revision, carried }: Progress,
): Promise<boolean> {
  const lines = await linesAfter(db, stream, revision)
  const before = lines.filter(({ at }) => at < since).at(-1)
  if (before) {
    await passOver(db, stream, revision, { revision: before.revision, carried: 0n })
    return true
  }
  const report = nextReport(lines, carried)
  if (!report) return false
  const { value } = report
  if (value === null) {
    await passOver(db, stream, revision, report)
    return true
  }
  if (now().getTime() - Date.parse(report.at) > takenForMs) {
    await passOver(db, stream, revision, report, amountOf(value))
    return true
  }
  const name = sha256(`${stream} ${report.revision}`)
  await beginReport(db, stream, revision, { ...report, value, name, carried: String(report.carried) })
  return true
}

async function deliver(
  ports: Ports<'db' | 'now' | 'providers'>,
  { stream, meter, subscription }: ReportedMeter,
  access: CardAccess,
  { buyer: known, sentAt, sending }: Progress & { sending: Sending },
): Promise<void> {
  const { db, now, providers } = ports
  const isForgotten = sentAt !== null && now().getTime() - Date.parse(sentAt) > knownForMs
  if (isForgotten || now().getTime() - Date.parse(sending.at) > takenForMs)
    return endReport(db, stream, sending, amountOf(sending.value))
  const buyer = known ?? (await providers.card.readBuyer(access, subscription))
  if (known === null) await knowBuyer(db, stream, buyer)
  const { value, name, at } = sending
  const isFirst = await noteSent(db, stream, name, momentOf(ports))
  try {
    await providers.card.reportUse(access, { eventName: meter, buyer, value, name, at })
  } catch (error) {
    if (isFirst && error instanceof ProviderRefused) await noteRefused(db, stream, name)
    throw error
  }
  await endReport(db, stream, sending, 0n)
}

function wordsOf(error: unknown): string {
  if (error instanceof ProviderRefused)
    return error.reason === 'request' || error.reason === 'missing'
      ? 'Stripe does not know the meter or the customer. A meter there needs the id of the meter here as its event name.'
      : 'Stripe does not accept the key. It must be able to read subscriptions and to write meter events.'
  if (error instanceof Refusal) return 'Stripe cannot be called with this connection. Connect it again.'
  return 'Stripe did not answer.'
}
