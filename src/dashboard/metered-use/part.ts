import { amountOf, amountText, amountWords } from '../../domain/meters/amount.ts'
import { keptIn } from '../../domain/meters/view.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { MeteredUse } from '../../usage/read-metered.ts'
import { type StandingMeter, useOf } from '../../usage/standing-meters.ts'
import { dayOf, moment } from '../frame/moments.ts'
import { facts, section, table } from '../frame/parts.ts'
import { billForm } from './bill-form.ts'
import { type MeterRangeName, meterRanges, type ShownMeteredUse } from './use.ts'
import { heaviestTable, meterRangeLinks, sumWords, usePlot } from './view.ts'

export type ShownMeters = ShownMeteredUse & {
  meters: readonly StandingMeter[]
  /** Whether the role may add and withdraw credits, and correct what was used. */
  mayChange: boolean
}

/** What a page is about. */
type Scope = { license: string } | { product: string } | { customer: string }

/**
 * The meters of a license, or those that licenses of a customer share: how each stands, its credits and holds, and what was used over
 * time. Of a product, and of licenses of a customer, the sums, and which used most. Nothing without meters where none was used in 400 days.
 * @param path of the page
 */
export function meteredUsePart(path: string, shown: ShownMeters | undefined, scope: Scope): Content {
  if (shown === undefined) return undefined
  const { meters, uses, name, mayChange, now } = shown
  if (meters.length === 0 && uses.length === 0 && name === 'month') return undefined
  const present = new Set(meters.map((meter) => useOf(meter, uses)))
  const others = uses.filter((use) => !present.has(use))
  return section(
    'license' in scope ? 'Usage' : 'Metered use',
    html`<div class="stack" id="metered-use">
      ${meterRangeLinks(path, name)}
      ${meters.map((meter) => meterSheet(path, { meter, use: useOf(meter, uses), name, mayChange }, scope))}
      ${meters.length === 0 && uses.length === 0 && html`<p class="lead">Nothing was used in the last ${meterRanges[name].name}.</p>`}
      ${others.map((use) => (isOwn(use, scope) ? earlierSheet(path, use, name, scope) : sumsOf(use, name, scope)))}
      ${billForm(scope, now)}
    </div>`,
    notes['license' in scope ? 'license' : 'product' in scope ? 'product' : 'customer'],
  )
}

const notes = {
  license: 'Amounts are exact. Days, weeks and months are those of the calendar in UTC.',
  product: 'Test licenses do not count. The sums are those of the lines of the licenses, to the last digit.',
  customer:
    'Amounts are exact. Days, weeks and months are those of the calendar in UTC. Test licenses count only under shared meters.',
}

/** Whether a page is about the one that a use without a present meter belongs to. */
const isOwn = ({ productId }: MeteredUse, scope: Scope): boolean =>
  'license' in scope || ('customer' in scope && productId === null)

type OneMeter = {
  meter: StandingMeter
  use: MeteredUse | undefined
  name: MeterRangeName
  mayChange: boolean
}

function meterSheet(path: string, { meter, use, name, ...role }: OneMeter, scope: Scope): Html {
  const { meter: id, unit, customerId } = meter
  const isElsewhere = customerId !== null && !('customer' in scope)
  const mayChange = role.mayChange && !isElsewhere
  const all = allOf(meter)
  return html`<div class="sheet stack">
    <h3>${id}</h3>
    ${isElsewhere && html`<p class="lead">All licenses of <a href=${`/dashboard/customers/${customerId}`}>its customer</a> share it. The plot has what this license used of it.</p>`}
    ${standingPart(meter, all)}
    ${facts([
      ['Left', `${amountWords(meter.remaining)} ${unit}`],
      ['Included', `${amountWords(meter.included)} ${perPeriod[meter.period]}`],
      meter.rolledOver !== '0' && ['Carried over', amountWords(meter.rolledOver)],
      meter.overage !== '0' && ['Beyond', amountWords(meter.overage)],
      meter.resetsAt !== null && ['Resets', moment(meter.resetsAt)],
      meter.forecast !== null && ['At this rate', forecastWords(meter)],
    ])}
    ${meter.credits.length > 0 && creditsTable(path, meter, mayChange)}
    ${meter.holds.length > 0 && holdsList(meter)}
    ${meter.allowances.length > 0 && allowancesList(meter)}
    ${use && html`${usePlot(use, name)}<p class="lead">${sumWords(use, name)}</p>${use.heaviest.length > 0 && heaviestTable(use)}`}
    ${
      !isElsewhere &&
      html`<div class="decide">
      <a class="button second" href=${linesPath(path, id)}>Lines of ${id}</a>
      ${mayChange && html`<a class="button second" href=${changePath(path, 'add-credit', { meter: id })}>Add credit to ${id}</a>`}
      ${mayChange && meter.used !== '0' && html`<a class="button second" href=${changePath(path, 'correct-use', { meter: id })}>Correct ${id}</a>`}
    </div>`
    }
  </div>`
}

const perPeriod: Record<StandingMeter['period'], string> = {
  day: 'each day',
  week: 'each week',
  month: 'each month',
  license: 'in all',
  purchase: 'with each purchase',
}

/** All that there is in the period: what was used of it, what is held and what is left. */
const allOf = (meter: StandingMeter): bigint =>
  amountOf(meter.used) - amountOf(meter.overage) + amountOf(meter.remaining) + keptIn(meter)

function standingPart(meter: StandingMeter, all: bigint): Html {
  const { used, overage, unit } = meter
  const spent = amountOf(used) - amountOf(overage)
  const held = keptIn(meter)
  const percent = all === 0n ? 100 : Number((spent * 1000n) / all) / 10
  const beyond = overage === '0' ? '' : `, ${amountWords(overage)} of them beyond`
  const isHeld = held === 0n ? '' : `, ${amountWords(amountText(held))} held`
  return html`<div class="stack-tight">
    <p><strong>${amountWords(used)} of ${amountWords(amountText(all))} ${unit} used</strong>${beyond}${isHeld}</p>
    <progress max="100" value=${percent} aria-label=${`${percent.toLocaleString('en')} % used`}></progress>
  </div>`
}

function forecastWords({ forecast, resetsAt, unit }: StandingMeter): Content {
  if (forecast === null) return null
  const mean = html`<span class="sub">About ${meanWords(forecast.perDay)} ${unit} a day, the mean of the last 7 days</span>`
  if (forecast.usedUpAt !== null) return html`<span>used up on ${dayOf(forecast.usedUpAt)}${mean}</span>`
  return html`<span>${resetsAt === null ? 'lasts for more than ten years' : 'lasts until it resets'}${mean}</span>`
}

const meanWords = (mean: string): string => Number(mean).toLocaleString('en', { maximumSignificantDigits: 3 })

const creditsTable = (path: string, { meter, credits, unit }: StandingMeter, mayChange: boolean): Html =>
  html`<div class="sheeted">
    ${table({
      caption: `Credits of ${meter}, in the order in which they are spent`,
      columns: [
        { label: 'Credit' },
        { label: `Left (${unit})`, number: true },
        { label: 'Ends' },
        ...(mayChange ? [{ label: 'Change' }] : []),
      ],
      rows: credits.map(({ creditId, left, endsAt }): Content[] => [
        html`<code>${creditId}</code>`,
        amountWords(left),
        endsAt === null ? 'never' : moment(endsAt),
        ...(mayChange && left === '0'
          ? ['–']
          : mayChange
            ? [
                html`<a href=${changePath(path, 'withdraw-credit', { meter, credit: creditId })} aria-label=${`Withdraw credit ${creditId}`}>Withdraw</a>`,
              ]
            : []),
      ]),
    })}
  </div>`

const holdsList = ({ holds, unit }: StandingMeter): Html =>
  html`<div>
    <h4>Holds</h4>
    <ul class="stack-tight">
      ${holds.map(({ amount, endsAt }) => html`<li>${amountWords(amount)} ${unit} until ${moment(endsAt)}</li>`)}
    </ul>
  </div>`

const allowancesList = ({ allowances, unit }: StandingMeter): Html =>
  html`<div>
    <h4>Kept for devices without a network</h4>
    <ul class="stack-tight">
      ${allowances.map(({ left, endsAt, keptUntil }) => html`<li>${amountWords(left)} ${unit} until ${moment(endsAt)}, and for reports until ${moment(keptUntil)}</li>`)}
    </ul>
  </div>`

/** A meter that the key type, or the customer, no longer has. */
function earlierSheet(path: string, use: MeteredUse, name: MeterRangeName, scope: Scope): Html {
  const words =
    use.productId === null
      ? 'The licenses of the customer no longer share this meter.'
      : 'The key type no longer has this meter, or the customer has one in its place.'
  const hasLines = use.productId !== null || 'customer' in scope
  return html`<div class="sheet stack">
    <h3>${use.meter}</h3>
    <p class="lead">${words}</p>
    ${usePlot(use, name)}
    <p class="lead">${sumWords(use, name)}</p>
    ${hasLines && html`<div class="decide"><a class="button second" href=${linesPath(path, use.meter)}>Lines of ${use.meter}</a></div>`}
  </div>`
}

/** What several licenses used under a meter. A page of one product does not name it. */
function sumsOf(use: MeteredUse, name: MeterRangeName, scope: Scope): Html {
  const { meter, productId, heaviest } = use
  const isOfProduct = 'product' in scope
  return html`<div class="stack-tight">
    <h3>${productId === null ? `${meter}, shared by licenses of customers` : isOfProduct ? meter : `${meter} of ${productId}`}</h3>
    ${usePlot(use, name)}
    <p class="lead">${sumWords(use, name)}</p>
    ${heaviest.length > 0 && heaviestTable(use)}
  </div>`
}

const linesPath = (path: string, meter: string): string => `${path}/meters/${meter}`

const changePath = (path: string, change: string, query: Record<string, string>): string =>
  `${path}/change/${change}?${new URLSearchParams(query)}`
