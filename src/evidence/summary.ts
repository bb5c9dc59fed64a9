import { listDevices } from '../../projections/licenses/queries.ts'
import { graceUntilOf } from '../domain/licenses/grace.ts'
import type { Seat } from '../domain/licenses/seats.ts'
import { statusAt } from '../domain/licenses/status.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import { happeningInWords } from '../history/actors.ts'
import { money } from '../history/changes.ts'
import { type LicenseHistoryEntry, readHistory } from '../history/entries.ts'
import { momentWords, undatedEnd } from '../history/sentences.ts'
import { type Content, documentOf, type Html, html } from '../html.ts'
import type { Ports } from '../ports.ts'
import type { Case, DeliveryCounts } from './case.ts'

/** As much as a person reads; the other files hold everything. */
const maxShown = 200

/** A self-contained page, without scripts or external fonts and images. */
export async function summaryOf(
  ports: Ports<'db' | 'subjects'>,
  about: Case,
  counts: DeliveryCounts,
): Promise<string> {
  const { tenantId, licenseId, entry, sale } = about
  const place = { tenantId, licenseId }
  const newest = { order: 'newest', after: entry.revision + 1, limit: maxShown } as const
  const { entries } = await readHistory(ports, place, newest)
  const seats = await listDevices(ports.db, licenseId)
  const title = `Evidence on ${licenseId}`
  return documentOf(html`
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>${stylesheet}</style>
      </head>
      <body>
        <main>
          <header>
            <p>Evidence, after event ${entry.revision} of the license's history</p>
            <h1>${entry.license.displayKey}</h1>
            <p class="id">${licenseId}</p>
          </header>
          ${section('The license', facts(licenseFacts(about, entries[0]?.time)))}
          ${sale && section('The sale', saleParts(sale, about))}
          ${section('Devices', seatTable(seats))}
          ${section('History', timeline(entries.toReversed(), entry.revision + 1))}
          ${section('Deliveries', deliveryTable(counts))}
          ${section('Usage', usageSentence(about))}
          <footer>README.txt describes the other files and how to verify that nothing was changed.</footer>
        </main>
      </body>
    </html>`)
}

const section = (title: string, content: Content): Html =>
  html`<section><h2>${title}</h2>${content}</section>`

type Fact = [name: string, value: string | number | null]

/** Facts without a value are omitted. */
const facts = (all: readonly Fact[]): Html => html`
  <dl>
    ${all.filter(([, value]) => value !== null).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`

const momentOrNull = (at: string | null): string | null => (at === null ? null : momentWords(at))

const revocationWords = {
  person: 'a person',
  refund: 'a refund',
  dispute: 'a lost dispute',
  import_undone: 'an import that was taken back',
} as const

/** @param at the time of the last event, which decides whether an expiry is past */
function licenseFacts({ tenantId, entry, holder }: Case, at = entry.license.createdAt): Fact[] {
  const { license } = entry
  const { productId, keyTypeId, quantity, deviceLimit, seatsUsed, revokedReason } = license
  return [
    ['Status', statusAt(license, at)],
    ['Sold by', tenantId],
    ['Product', `${productId}, ${keyTypeId}`],
    ['Issued to', [holder.name, holder.email].filter(Boolean).join(', ') || null],
    ['Customer', license.customerId],
    ['Issued', momentWords(license.createdAt)],
    ['Quantity', quantity],
    [
      'Seats',
      deviceLimit === null ? `${seatsUsed} in use, no limit` : `${seatsUsed} of ${deviceLimit} in use`,
    ],
    ['Expires', momentOrNull(license.expiresAt) ?? undatedEnd(license.startsWith)],
    ['Grace until', momentOrNull(graceUntilOf(license))],
    ['Updates until', momentOrNull(license.updatesUntil)],
    ['Refunded', momentOrNull(license.refundedAt)],
    ['Revoked', momentOrNull(license.revokedAt)],
    ['Revoked by', license.revokedCause && revocationWords[license.revokedCause]],
    ['Reason', revokedReason],
    ['Test', license.test ? 'yes: no payment was made' : null],
  ]
}

function saleParts(sale: KnownSale, { buyer }: Case): Content {
  const { renewals, refunds, disputes } = sale.facts
  const rows: [string, string, string][] = [
    ['Payment', sale.saleId, money(sale.amount, sale.currency)],
    ...renewals.map(({ paymentId, amount, currency, paidUntil }): [string, string, string] => [
      paidUntil === null ? 'Renewal' : `Renewal, paid until ${momentWords(paidUntil)}`,
      paymentId,
      money(amount, currency),
    ]),
    ...refunds.map(({ refundId, amount, currency, full }): [string, string, string] => [
      full ? 'Full refund' : 'Partial refund',
      refundId,
      money(amount, currency),
    ]),
    ...disputes.map(({ disputeId, outcome, amount, currency }): [string, string, string] => [
      `Dispute, ${outcome}`,
      disputeId,
      amount === null || currency === null ? '' : money(amount, currency),
    ]),
  ]
  return [
    facts([
      ['Provider', sale.provider],
      ['Received', momentWords(sale.receivedAt)],
      ['Bought', `${sale.productName}, ${sale.quantity} ×`],
      ['Buyer', [buyer.name, buyer.email].filter(Boolean).join(', ') || null],
      ['Repeated', sale.duplicates === 0 ? null : `${sale.duplicates} times`],
    ]),
    table(['What', "Provider's id", 'Amount'], rows),
  ]
}

function seatTable(seats: readonly Seat[]): Content {
  if (seats.length === 0) return html`<p>No device was ever activated.</p>`
  const rows = seats
    .slice(0, maxShown)
    .map(({ name, deviceId, activatedAt, deactivatedAt }) => [
      name,
      deviceId,
      momentWords(activatedAt),
      deactivatedAt === null ? 'active' : momentWords(deactivatedAt),
    ])
  return [more(seats.length), table(['Device', 'Id', 'Activated', 'Deactivated'], rows)]
}

function timeline(entries: readonly LicenseHistoryEntry[], all: number): Content {
  const days = Map.groupBy(entries, ({ time }) => time.slice(0, 10))
  return [
    more(all, 'the last'),
    ...Array.from(
      days,
      ([day, shown]) => html`
        <div class="day">
          <h3>${day}</h3>
          <ol>
            ${shown.map(
              (entry) => html`
                <li>
                  <time datetime=${entry.time}>${entry.time.slice(11, 19)}</time>
                  ${eventItem(entry)}
                </li>`,
            )}
          </ol>
        </div>`,
    ),
  ]
}

function eventItem(entry: LicenseHistoryEntry): Html {
  const { what, by } = happeningInWords(entry)
  return html`<span>${what}<small>event ${entry.sequence}${by && `, ${by}`}</small></span>`
}

const more = (all: number, which = 'the first'): Content =>
  all > maxShown &&
  html`<p>Showing ${which} ${maxShown} of ${all.toLocaleString('en-US')}; the other files contain all.</p>`

function deliveryTable(counts: DeliveryCounts): Content {
  const rows = Object.entries(counts).map(([channel, { delivered, pending, abandoned }]) => [
    channel === 'mail' ? 'Mails to the customer' : "Calls to the vendor's webhook",
    delivered,
    pending,
    abandoned,
  ])
  return table(['', 'Delivered', 'Pending', 'Abandoned'], rows)
}

function usageSentence({ entry, counted }: Case): Html {
  const [validated, refused] = [counted.validations, counted.rejected].map((count) =>
    count.toLocaleString('en-US'),
  )
  const all = `Since this license was issued, all licenses of ${entry.license.productId} together`
  return html`<p>${`${all} had ${validated} successful and ${refused} rejected validations. Validations are not counted per license.`}</p>`
}

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): Html => html`
  <div class="wide">
    <table>
      <thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`

/**
 * The stylesheet of the summary, for light and dark screens and for paper. It contains nothing that needs
 * escaping.
 */
const stylesheet = `
:root { color-scheme: light dark; --ink: #1c1f24; --quiet: #5c6470; --line: #dfe3e8; --paper: #fff; --ground: #f4f5f7; --mark: #3458c9 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --quiet: #9aa3af; --line: #31363f; --paper: #1a1d22; --ground: #121418; --mark: #8ea6f5 }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 56rem; margin: 2rem auto; padding: 2.5rem; background: var(--paper); border: 1px solid var(--line); border-radius: 12px }
header { border-bottom: 1px solid var(--line); padding-bottom: 1.25rem }
header p { margin: 0; color: var(--quiet) }
h1 { margin: .25rem 0; font-size: 2rem; letter-spacing: .02em }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.15rem }
h3 { margin: 1.25rem 0 .5rem; font-size: .9rem; color: var(--quiet); font-weight: 600 }
.id { font: 13px ui-monospace, monospace }
dl { margin: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .9rem 1.5rem }
dt { color: var(--quiet); font-size: .8rem }
dd { margin: 0; overflow-wrap: anywhere }
.wide { overflow-x: auto; margin-top: 1rem }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
th { text-align: left; color: var(--quiet); font-size: .8rem; font-weight: 600 }
th, td { padding: .5rem 1rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere }
ol { list-style: none; margin: 0; padding: 0 0 0 1rem; border-left: 2px solid var(--line) }
li { display: flex; gap: 1rem; padding: .35rem 0; position: relative }
li::before { content: ''; position: absolute; left: -1.31rem; top: .8rem; width: .5rem; height: .5rem; border-radius: 50%; background: var(--mark) }
time { color: var(--quiet); font-variant-numeric: tabular-nums }
small { display: block; color: var(--quiet) }
footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--quiet) }
@media (max-width: 40rem) { main { margin: 0; padding: 1.25rem; border: 0; border-radius: 0 } }
@media print { body { background: none } main { margin: 0; padding: 0; border: 0; max-width: none } .day li { break-inside: avoid } }
`
