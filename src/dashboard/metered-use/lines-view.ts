import type { PlacedLine } from '../../../projections/meters/queries.ts'
import { amountWords } from '../../domain/meters/amount.ts'
import type { LineKind } from '../../domain/meters/lines.ts'
import { type Content, type Html, html } from '../../html.ts'
import { moment, utcDayOf } from '../frame/moments.ts'
import { badge, empty, heading, pager, table } from '../frame/parts.ts'

type Lines = {
  path: string
  /** What names the owner of the meter. */
  named: Content
  /** Whether its lines are of several licenses. */
  isShared: boolean
  meter: string
  lines: readonly PlacedLine[]
  cursor: string | undefined
  next: string | null
}

const kinds: Record<LineKind, string> = {
  use: 'Used',
  hold: 'Held',
  allowance: 'Kept for a device',
  commit: 'Used of a hold',
  credit: 'Credit added',
  correction: 'Corrected',
  withdrawal: 'Credit withdrawn',
}

export function linesView({ path, named, isShared, meter, lines, cursor, next }: Lines): Html {
  return html`<div>
    ${heading(`Lines of ${meter}`, html`${named}. What was used is the sum of the uses, less the corrections.`)}
    ${
      lines.length === 0
        ? empty('No lines yet', 'A line is added with each use, hold, credit and correction.')
        : html`<div class="sheeted">
            ${table({
              caption: `Lines of ${meter}, newest first`,
              columns: [
                { label: 'Time' },
                { label: 'What' },
                { label: 'Amount', number: true },
                { label: 'From' },
                ...(isShared ? [{ label: 'License' }] : []),
                { label: 'Period', wide: true },
                { label: 'Key', wide: true },
              ],
              rows: lines.map((line) => lineRow(line, isShared)),
            })}
          </div>`
    }
    ${pager(path, { cursor }, next)}
  </div>`
}

const lineRow = (line: PlacedLine, isShared: boolean): Content[] => [
  moment(line.at),
  html`<span>${kinds[line.kind]}${line.late && html` ${badge('warn', 'late')}`}${
    line.note !== null && html`<span class="sub">${line.note}</span>`
  }${line.usedAt !== null && html`<span class="sub">used at ${moment(line.usedAt)}</span>`}</span>`,
  line.amount === null ? 'the rest' : `${line.kind === 'correction' ? '−' : ''}${amountWords(line.amount)}`,
  fromWords(line),
  ...(isShared ? [line.licenseId === null ? '–' : licenseLink(line.licenseId)] : []),
  line.period === null ? '–' : html`<span>from ${utcDayOf(line.period.startsAt)}</span>`,
  line.key === null ? '–' : html`<code>${line.key}</code>`,
]

const licenseLink = (licenseId: string): Html =>
  html`<a href=${`/dashboard/licenses/${licenseId}`}><code>${licenseId}</code></a>`

/** What an amount was taken from, or given back to; of a credit its end. */
function fromWords({ from, subjectId, endsAt, kind }: PlacedLine): Content {
  if (kind === 'credit')
    return html`<span>${endsAt === null ? 'without an end' : html`until ${moment(endsAt)}`}<span class="sub"><code>${subjectId}</code></span></span>`
  if (from === null) return subjectId === null ? '–' : html`<code>${subjectId}</code>`
  const { rolledOver, included, credits = {}, overage } = from
  const parts = [
    rolledOver !== undefined && `${amountWords(rolledOver)} carried over`,
    included !== undefined && `${amountWords(included)} included`,
    ...Object.values(credits).map((amount) => `${amountWords(amount)} of a credit`),
    overage !== undefined && `${amountWords(overage)} beyond`,
  ]
  return parts.filter((part) => part !== false).join(', ')
}
