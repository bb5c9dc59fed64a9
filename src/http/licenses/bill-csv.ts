import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Pool } from 'pg'
import {
  type BilledMeter,
  type BillQuery,
  billedLines,
  billedPeriods,
} from '../../../projections/meters/bill.ts'
import type { PlacedLine } from '../../../projections/meters/queries.ts'
import { amountOf, amountText, sumOf } from '../../domain/meters/amount.ts'
import { type Cell, csvLine, type Decimal } from '../csv.ts'

/** What a bill is made of: what was counted, by meter and period, or each line of it. */
export const billParts = ['totals', 'lines'] as const
export type BillPart = (typeof billParts)[number]

const meterColumns = ['customerId', 'licenseId', 'productId', 'meter', 'unit'] as const

const ofMeter = ({ customerId, licenseId, productId, meter, unit }: BilledMeter): Cell[] => [
  ...[customerId, licenseId, productId, meter, unit],
]

const totalColumns = [
  ...meterColumns,
  ...['periodStartsAt', 'periodEndsAt', 'uses', 'used', 'rolledOver', 'included', 'prepaid', 'overage'],
]

const lineColumns = [
  ...meterColumns,
  ...['time', 'kind', 'amount', 'counted', 'rolledOver', 'included', 'prepaid', 'overage'],
  ...['periodStartsAt', 'periodEndsAt', 'usedAt', 'late', 'key', 'holdId', 'creditId', 'note'],
]

/** Sends a bill as a file, as fast as it is read. @param until the end of the range that was asked for, which may not be over yet */
export const sendBill = (
  reply: FastifyReply,
  { db, query, part, until }: { db: Pool; query: BillQuery; part: BillPart; until: string },
): FastifyReply =>
  reply
    .type('text/csv; charset=utf-8; header=present')
    .header(
      'content-disposition',
      `attachment; filename="usage-${part}-${query.from.slice(0, 10)}-${until.slice(0, 10)}.csv"`,
    )
    .send(Readable.from(billCsv(db, query, part), { objectMode: false }))

/**
 * A bill as CSV, a part at a time. Amounts are exact decimal numbers. Adjoining ranges have each line in one of them:
 * a range is by when lines were recorded, which for a late use is after its period.
 */
async function* billCsv(db: Pool, query: BillQuery, part: BillPart): AsyncGenerator<string> {
  if (part === 'totals') {
    yield csvLine(totalColumns)
    for await (const { meter, periods } of billedPeriods(db, query))
      yield periods
        .map(({ startsAt, endsAt, uses, used, rolledOver, included, prepaid, overage }) =>
          csvLine([
            ...[...ofMeter(meter), startsAt, endsAt, uses],
            ...[used, rolledOver, included, prepaid, overage].map(decimal),
          ]),
        )
        .join('')
    return
  }
  yield csvLine(lineColumns)
  for await (const { meter, lines } of billedLines(db, query))
    yield lines
      .map((line) =>
        csvLine([...ofMeter({ ...meter, licenseId: line.licenseId ?? meter.licenseId }), ...ofLine(line)]),
      )
      .join('')
}

const decimal = (amount: bigint): Decimal => ({ decimal: amountText(amount) })

/** What each kind adds to what was used; the others add nothing. */
const signs: Partial<Record<PlacedLine['kind'], 1n | -1n>> = { use: 1n, commit: 1n, correction: -1n }

function ofLine({ kind, amount, from, period, usedAt, late, key, subjectId, note, at }: PlacedLine): Cell[] {
  const sign = signs[kind]
  const isOfCredit = kind === 'credit' || kind === 'withdrawal'
  const share = (text: string | undefined) =>
    sign === undefined ? null : decimal(sign * amountOf(text ?? '0'))
  const prepaid = sumOf(Object.values(from?.credits ?? {}).map(amountOf))
  return [
    ...[at, kind, amount === null ? null : { decimal: amount }, share(amount ?? undefined)],
    ...[share(from?.rolledOver), share(from?.included), share(amountText(prepaid)), share(from?.overage)],
    ...[period?.startsAt, period?.endsAt, usedAt, late, key],
    ...[isOfCredit ? null : subjectId, isOfCredit ? subjectId : null, note],
  ]
}
