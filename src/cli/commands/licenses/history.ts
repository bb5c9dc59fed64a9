import type { Command } from 'commander'
import { findLicenseOfAnyTenant } from '../../../../projections/licenses/queries.ts'
import type { Stores } from '../../../app/stores.ts'
import { withStores } from '../../../app/with-stores.ts'
import { recordAudit } from '../../../commands/audit.ts'
import { momentOf, type Origin } from '../../../commands/origin.ts'
import { ConfigError } from '../../../config.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { licenseStream } from '../../../domain/streams.ts'
import { actorWords } from '../../../history/actors.ts'
import type { Change } from '../../../history/changes.ts'
import { type Comparison, compareMoments } from '../../../history/compare.ts'
import { type HistoryPage, type LicenseHistoryEntry, readHistory } from '../../../history/entries.ts'
import type { AsOf } from '../../../history/moment.ts'
import { follow } from '../../../ledger/follow.ts'
import type { Ports } from '../../../ports.ts'
import { asLine, fields, inJson, type OutputOptions, print } from '../../../terminal/output.ts'
import { type Explanation, explain } from '../../../verdicts/explain.ts'
import { asOfTyped, licenseAt } from '../../license-at.ts'

type HistoryOptions = OutputOptions & { at?: string; watch?: boolean }

/** The history of a license, the explanation of its answers, and the differences between two moments. */
export function licenseHistoryCommands(license: Command): void {
  license
    .command('history <id>')
    .description('Print the history, oldest first: what happened, when, by whom')
    .option('--at <revision or time>', 'show the state at that moment instead')
    .option('--watch', 'keep printing new events until interrupted')
    .option('--json', 'print an array of events, or the state with --at; with --watch, one event per line')
    .action((id: string, options: HistoryOptions) =>
      withStores(async (stores, origin) => {
        const asOf = typed(stores.services, options.at)
        const place = await viewLicense(stores.services, id, asOf && textOf(asOf), origin)
        if (options.at === undefined) return showHistory(stores, place, options)
        const past = await licenseAt(stores.services, id, options.at)
        print(options, past, () => fields(past))
      }),
    )

  license
    .command('explain <id>')
    .description('Explain what validate and activate would return')
    .option('--device <id>', 'check this device; without it, only the license is checked')
    .option('--at <revision or time>', 'explain what they would have returned at that moment')
    .option('--json', 'print the explanation')
    .action((id: string, options: OutputOptions & { device?: string; at?: string }) =>
      withStores(async ({ services }, origin) => {
        const asOf = typed(services, options.at)
        const place = await viewLicense(services, id, asOf && textOf(asOf), origin)
        const explanation = await explain(services, { ...place, deviceId: options.device, asOf })
        print(options, explanation, () => explanationLines(explanation))
      }),
    )

  license
    .command('diff <id> <moments>')
    .description('Compare two moments, written a..b: revisions or times')
    .option('--json', 'print the differences')
    .action((id: string, moments: string, options: OutputOptions) =>
      withStores(async ({ services }, origin) => {
        const [from, to, ...more] = moments.split('..').map((moment) => typed(services, moment))
        if (!from || !to || more.length > 0)
          throw new ConfigError(`${moments} is not a range. Write it as a..b, for example 1..3.`)
        const place = await viewLicense(services, id, `${textOf(from)}..${textOf(to)}`, origin)
        const compared = await compareMoments(services, place, from, to)
        print(options, compared, () => comparisonLines(compared))
      }),
    )
}

const typed = (services: Ports<'now'>, moment: string | undefined): AsOf | undefined =>
  moment === undefined ? undefined : asOfTyped(moment, momentOf(services))

const textOf = (asOf: AsOf): string => ('time' in asOf ? asOf.time : String(asOf.sequence))

type LicenseRef = { tenantId: string; licenseId: string }

/** Finds the license, and records the view in the audit log before anything is printed. */
async function viewLicense(
  services: Ports<'db' | 'execute' | 'newId' | 'now'>,
  licenseId: string,
  asOf: string | undefined,
  origin: Origin,
): Promise<LicenseRef> {
  const entry = await findLicenseOfAnyTenant(services.db, licenseId)
  if (!entry) throw new Refusal('license_not_found')
  const { tenantId } = entry.license
  const target = { kind: 'license', id: licenseId } as const
  await recordAudit(services, tenantId, { action: 'viewed', target, asOf }, origin)
  return { tenantId, licenseId }
}

async function showHistory(stores: Stores, place: LicenseRef, options: HistoryOptions): Promise<void> {
  const { services } = stores
  const head = await services.ledger.head()
  const shown: HistoryPage = { entries: [], recorded: [], next: undefined }
  for await (const page of pagesAfter(services, place, undefined)) {
    shown.entries.push(...page.entries)
    shown.recorded.push(...page.recorded)
  }
  if (!options.watch) return print(options, withSummaries(shown), () => shown.entries.map(line))
  printPage(options, shown)
  await watch(stores, place, { head, last: shown.entries.at(-1)?.sequence }, (page) =>
    printPage(options, page),
  )
}

async function* pagesAfter(
  services: Ports<'db' | 'subjects'>,
  place: LicenseRef,
  sequence: number | undefined,
): AsyncIterable<HistoryPage> {
  let after = sequence
  do {
    const page = await readHistory(services, place, { order: 'oldest', after, limit: 500 })
    yield page
    after = page.next
  } while (after !== undefined)
}

/** Calls `onPage` for each new event of a license, once per event, until the command is interrupted. */
async function watch(
  { services }: Stores,
  place: LicenseRef,
  from: { head: bigint | undefined; last: number | undefined },
  onPage: (page: HistoryPage) => void,
): Promise<void> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  const stream = licenseStream(place.licenseId)
  let { last } = from
  for await (const entry of follow(services.ledger, from.head, stopping.signal, () => undefined)) {
    if (entry.stream !== stream || (last !== undefined && entry.revision <= last)) continue
    await services.untilVisible(entry.position)
    for await (const page of pagesAfter(services, place, last)) {
      onPage(page)
      last = page.entries.at(-1)?.sequence ?? last
    }
  }
}

/** The recorded events, each with its readable summary. */
const withSummaries = ({ entries, recorded }: HistoryPage): object[] =>
  recorded.map(({ event: { type, data }, seatsUsed: _, ...place }, index) => {
    const { event, actor, summary, device, changes, links } = entries[index] ?? {}
    return { ...place, type, data, event, actorName: actor?.name, summary, device, changes, links }
  })

function printPage(options: OutputOptions, page: HistoryPage): void {
  const lines = options.json
    ? withSummaries(page).map((event) => inJson(event))
    : page.entries.map((entry) => asLine(line(entry)))
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
}

function line({ sequence, time, summary, actor, changes }: LicenseHistoryEntry): string {
  const seats = changes.find(({ field }) => field === 'seatsUsed')
  const about = seats && seats.before !== null ? `, seats ${seats.before} → ${seats.after}` : ''
  return `${String(sequence).padStart(3)}  ${time}  ${summary}${about}, by ${actorWords(actor)}`
}

function explanationLines({ at, sequence, validate, activate }: Explanation): string[] {
  const part = (what: string, { status, because, events }: Explanation['activate']) => [
    `${what}: ${status ?? 'HTTP 403'}`,
    `  ${because}`,
    ...events.map(
      (event) => `  ${event.sequence}  ${event.time}  ${event.summary}, by ${actorWords(event.actor)}`,
    ),
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
