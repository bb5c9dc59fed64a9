import { closesAt, endlessSince } from '../../src/domain/meters/closing.ts'
import { type Line, linesOf } from '../../src/domain/meters/lines.ts'
import { evolveMeter } from '../../src/domain/meters/meter.ts'
import { type MeterText, meterOf, meterText, unusedText } from '../../src/domain/meters/text.ts'
import { evolveRecorded, type Recorded } from '../../src/domain/recorded.ts'
import { defineDocuments } from '../document.ts'
import type { Projector } from '../projector.ts'
import { defineTable } from '../table.ts'
import { noteIn, usageNotes, writesOfLicenses, writesOfOpened } from './notes.ts'
import { meterDays, meterHours, writesOfUse } from './use.ts'

type Owners = { productId: string | null; licenseId: string | null; customerId: string | null }
/** Of a license with its product, or of a customer. */
const noOwner: Owners = { productId: null, licenseId: null, customerId: null }

const documents = defineDocuments(
  {
    category: 'meter',
    absent: unusedText,
    evolve: evolveRecorded({
      category: 'meter',
      evolve: (state: MeterText, event) => meterText(evolveMeter(meterOf(state), event)),
    }),
  },
  {
    table: 'meters',
    begun: (state: MeterText) => (state.owner ? { ...state, ...noOwner, ...state.owner } : undefined),
    columns: {
      tenantId: 'text not null',
      productId: 'text',
      licenseId: 'text',
      customerId: 'text',
      meter: 'text not null',
      unit: 'text not null',
    },
    computed: {
      closesAt: ['timestamptz', (state) => closesAt(meterOf(state))],
      endlessSince: ['timestamptz', (state) => endlessSince(meterOf(state))],
      // When its license was last renewed. See writesOfRenewals.
      renewedAt: ['timestamptz', () => null],
    },
    merged: { renewedAt: 'greatest' },
    indexes: {
      meters_of_license: '(license_id, meter)',
      meters_of_product: '(tenant_id, product_id)',
      meters_of_customer: '(customer_id, meter)',
      meters_to_close: '(closes_at) where closes_at is not null',
      meters_renewed: '(renewed_at) where renewed_at > endless_since',
    },
    fillFactor: 70,
  },
)

type LineFields = Omit<Line, 'from' | 'period'> & {
  stream: string
  revision: number
  /** Among the lines of its event. */
  ordinal: number
  /** What of it came from where. */
  shares: Line['from']
  periodStartsAt: string | null
  periodEndsAt: string | null
}

/**
 * The lines of the bills. A row of `meters` and the lines up to its revision are committed together: a key that is not among them
 * can only have been recorded after that revision.
 */
export const meterLines = defineTable<LineFields>(
  'meter_lines',
  {
    stream: 'text not null',
    revision: 'int not null',
    ordinal: 'int not null',
    kind: 'text not null',
    key: 'text',
    amount: 'text',
    shares: 'json',
    periodStartsAt: 'timestamptz',
    periodEndsAt: 'timestamptz',
    endsAt: 'timestamptz',
    subjectId: 'text',
    licenseId: 'text',
    usedAt: 'timestamptz',
    late: 'boolean not null',
    note: 'text',
    at: 'timestamptz not null',
  },
  {
    key: ['stream', 'revision', 'ordinal'],
    over: 'nothing',
    indexes: {
      meter_lines_by_key: '(stream, key) where key is not null',
      meter_lines_by_time: '(stream, at)',
    },
  },
)

export const metersProjector: Projector = {
  name: 'meters',
  tables: [documents, meterLines, meterHours, meterDays, usageNotes],
  async apply(db, entries) {
    const changed = await documents.changed(db, entries)
    if (changed.length === 0) return writesOfLicenses(entries)
    const owners = new Map(changed.map(({ stream, state }) => [stream, state.owner]))
    return [
      ...documents.write(changed),
      ...meterLines.write(entries.flatMap(rowsOf)),
      ...writesOfUse(entries),
      ...writesOfOpened(entries),
      ...usageNotes.write(entries.flatMap((entry) => noteIn(owners, entry))),
      ...writesOfLicenses(entries),
    ]
  },
}

function rowsOf(recorded: Recorded): LineFields[] {
  if (recorded.category !== 'meter') return []
  const { stream, revision, event } = recorded
  return linesOf(event).map((line, ordinal) => ({ stream, revision, ordinal, ...rowOf(line) }))
}

const rowOf = ({ from, period, ...line }: Line) => ({
  ...line,
  shares: from,
  periodStartsAt: period?.startsAt ?? null,
  periodEndsAt: period?.endsAt ?? null,
})
