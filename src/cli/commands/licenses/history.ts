import { z } from 'zod'
import type { Stores } from '../../../app/stores.ts'
import { withStores } from '../../../app/with-stores.ts'
import { momentOf } from '../../../commands/origin.ts'
import { licenseStream } from '../../../domain/streams.ts'
import { happeningInWords } from '../../../history/actors.ts'
import type { Change } from '../../../history/changes.ts'
import { type Comparison, compareMoments } from '../../../history/compare.ts'
import { type HistoryPage, type LicenseHistoryEntry, readHistory } from '../../../history/entries.ts'
import { follow } from '../../../ledger/follow.ts'
import type { Ports } from '../../../ports.ts'
import { CommandMisused } from '../../../terminal/exit-codes.ts'
import { untilInterrupted } from '../../../terminal/interruption.ts'
import { asLine, inJson, type OutputOptions, print } from '../../../terminal/output.ts'
import { type Explanation, explain } from '../../../verdicts/explain.ts'
import { hostOptionsIn } from '../../host-form.ts'
import { momentTyped, viewLicense } from './view.ts'

type Given = Record<string, unknown>
type LicenseRef = { tenantId: string; licenseId: string }

/** `keyledger licenses history <id> --tenant <id>`: every event as recorded, oldest first. */
export function historyOnHost([id = '']: readonly string[], given: Given): Promise<void> {
  const options = hostOptionsIn({ watch: z.boolean().optional() }, given)
  return withStores(async (stores, origin) => {
    await viewLicense(stores.ports, options.tenant, id, undefined, origin)
    await showHistory(stores, { tenantId: options.tenant, licenseId: id }, options)
  })
}

/** `keyledger licenses explain <id> --tenant <id>`: what validate and activate would return, now or then. */
export function explainOnHost([id = '']: readonly string[], given: Given): Promise<void> {
  const options = hostOptionsIn({ device: z.string().optional(), asOf: z.string().optional() }, given)
  return withStores(async ({ ports }, origin) => {
    const asOf = momentTyped(options.asOf, '--as-of')
    await viewLicense(ports, options.tenant, id, options.asOf, origin)
    const ref = { tenantId: options.tenant, licenseId: id }
    const explanation = await explain(ports, { ...ref, deviceId: options.device, asOf })
    print(options, explanation, () => explanationLines(explanation))
  })
}

/** `keyledger licenses diff <id> --tenant <id> --from <moment>`: what changed between two moments. */
export function diffOnHost([id = '']: readonly string[], given: Given): Promise<void> {
  const options = hostOptionsIn({ from: z.string().optional(), to: z.string().optional() }, given)
  return withStores(async ({ ports }, origin) => {
    const now = momentOf(ports)
    if (options.from === undefined) throw new CommandMisused('--from is missing: the earlier moment')
    const from = momentTyped(options.from, '--from') ?? { time: now }
    const to = momentTyped(options.to, '--to') ?? { time: now }
    await viewLicense(ports, options.tenant, id, `${options.from}..${options.to ?? now}`, origin)
    const compared = await compareMoments(ports, { tenantId: options.tenant, licenseId: id }, from, to)
    print(options, compared, () => comparisonLines(compared))
  })
}

async function showHistory(
  stores: Stores,
  ref: LicenseRef,
  options: OutputOptions & { watch?: boolean | undefined },
): Promise<void> {
  const { ports } = stores
  const head = await ports.ledger.head()
  const shown: HistoryPage = { entries: [], recorded: [], next: undefined }
  for await (const page of pagesAfter(ports, ref, undefined)) {
    shown.entries.push(...page.entries)
    shown.recorded.push(...page.recorded)
  }
  if (!options.watch) return print(options, withSummaries(shown), () => shown.entries.map(line))
  printPage(options, shown)
  await watch(stores, ref, { head, last: shown.entries.at(-1)?.sequence }, (page) => printPage(options, page))
}

async function* pagesAfter(
  ports: Ports<'db' | 'subjects'>,
  ref: LicenseRef,
  sequence: number | undefined,
): AsyncIterable<HistoryPage> {
  let after = sequence
  do {
    const page = await readHistory(ports, ref, { order: 'oldest', after, limit: 500 })
    yield page
    after = page.next
  } while (after !== undefined)
}

/** Calls `onPage` for each new event of a license, once per event, until the command is interrupted. */
async function watch(
  { ports }: Stores,
  ref: LicenseRef,
  from: { head: bigint | undefined; last: number | undefined },
  onPage: (page: HistoryPage) => void,
): Promise<void> {
  const { signal } = untilInterrupted()
  const stream = licenseStream(ref.licenseId)
  let { last } = from
  for await (const entry of follow(ports.ledger, from.head, signal, () => undefined)) {
    if (entry.stream !== stream || (last !== undefined && entry.revision <= last)) continue
    await ports.untilVisible(entry.position)
    for await (const page of pagesAfter(ports, ref, last)) {
      onPage(page)
      last = page.entries.at(-1)?.sequence ?? last
    }
  }
}

/** The recorded events, each with its readable summary. */
const withSummaries = ({ entries, recorded }: HistoryPage): object[] =>
  recorded.map(({ event: { type, data }, seatsUsed: _, ...ref }, index) => {
    const { event, actor, summary, device, changes, links } = entries[index] ?? {}
    return { ...ref, type, data, event, actorName: actor?.name, summary, device, changes, links }
  })

function printPage(options: OutputOptions, page: HistoryPage): void {
  const lines = options.json
    ? withSummaries(page).map((event) => inJson(event))
    : page.entries.map((entry) => asLine(line(entry)))
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
}

function line(entry: LicenseHistoryEntry): string {
  const { sequence, time, changes } = entry
  const { what, by } = happeningInWords(entry)
  const seats = changes.find(({ field }) => field === 'seatsUsed')
  const about = seats && seats.before !== null ? `, seats ${seats.before} → ${seats.after}` : ''
  return `${String(sequence).padStart(3)}  ${time}  ${what}${about}${by === null ? '' : `, ${by}`}`
}

function explanationLines({ at, sequence, validate, activate }: Explanation): string[] {
  const part = (what: string, { status, because, events }: Explanation['activate']) => [
    `${what}: ${status ?? 'HTTP 403'}`,
    `  ${because}`,
    ...events.map((event) => {
      const { what, by } = happeningInWords(event)
      return `  ${event.sequence}  ${event.time}  ${what}${by === null ? '' : `, ${by}`}`
    }),
  ]
  return [`at ${at}, after event ${sequence}`, ...part('validate', validate), ...part('activate', activate)]
}

function comparisonLines({ from, to, changes, devices }: Comparison): string[] {
  const changeLine = (what: string, { before, after }: Pick<Change, 'before' | 'after'>) =>
    `${what}: ${before ?? 'none'} → ${after ?? 'none'}`
  const lines = [
    ...changes.map((change) => changeLine(change.field, change)),
    ...devices.map((device) => changeLine(`device “${device.name}”`, device)),
  ]
  return [
    `from event ${from.sequence}, ${from.at}, to event ${to.sequence}, ${to.at}`,
    ...(lines.length > 0 ? lines : ['nothing changed']),
  ]
}
