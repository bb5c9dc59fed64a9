import { type Places, refusedWith } from '../../domain/licenses/seat-places.ts'
import { type Content, type Html, html } from '../../html.ts'
import { counted } from '../../sentence.ts'
import { field, section } from '../frame/parts.ts'
import { barPlot } from '../frame/plots.ts'
import { type SeatRangeName, type ShownSeatUse, seatRanges, type WhatIf } from './seat-use.ts'

/**
 * The floating seats of a license, product or customer in use over time; undefined without any.
 * @param path of the page
 */
export function seatUsePart(path: string, use: ShownSeatUse | undefined, whatIf?: WhatIf): Content {
  if (use === undefined) return undefined
  const { name, limit, overdraft } = use
  const hasLimit = limit !== null && use.licenses > 0
  const denied = use.points.reduce((sum, point) => sum + point.denied, 0)
  return section(
    'Seats in use',
    html`<div class="stack" id="seat-use">
      <div class="ranges">${rangeLinks(path, name)}</div>
      ${barPlot({
        label: `Most seats in use at once, ${seatRanges[name].bar}; denied takings in red${hasLimit ? '; the line is the limit' : ''}`,
        by: name === 'all' ? 'day' : 'hour',
        bars: use.points.map(({ at, peak, denied: refused }) => ({
          at,
          parts: [peak],
          ...(refused > 0 && { mark: counted(refused, 'denied taking', 'denied takings') }),
        })),
        kinds: [{ className: 'bar', name: 'in use' }],
        ...(hasLimit && { line: { at: limit, name: 'limit' } }),
      })}
      <p class="lead">${inUseWords(use)}. ${counted(denied, 'denied taking', 'denied takings')} in the last ${seatRanges[name].name}${overdraft > 0 && `; ${counted(overdraft, 'seat', 'seats')} may be taken above the limit`}.</p>
      ${whatIf && whatIfPart(path, use, whatIf)}
    </div>`,
    'Peaks are kept for 400 days. A seat that ran out counts until that is recorded, up to 30 seconds later, and one of a relay when the relay reports it.',
  )
}

const inUseWords = ({ inUse, atRelays, limit, licenses }: ShownSeatUse): string => {
  const taken = (inUse + atRelays).toLocaleString('en')
  const most = limit === null ? '' : ` of ${limit.toLocaleString('en')}`
  const relays =
    atRelays === 0 ? 'in use now' : `taken now, ${atRelays.toLocaleString('en')} of them by relays`
  return `${taken}${most} ${relays}${licenses > 1 ? `, of ${licenses.toLocaleString('en')} licenses` : ''}`
}

const rangeLinks = (path: string, chosen: SeatRangeName): Html => html`<ul aria-label="Range of seats in use">
  ${Object.entries(seatRanges).map(
    ([range, { name }]) => html`<li>
      <a class="button second" href=${`${path}?use=${range}#seat-use`} aria-current=${range === chosen ? 'true' : undefined}>${name}</a>
    </li>`,
  )}
</ul>`

/** Bars of the plot over numbers of seats. */
const maxBars = 60

/** How many takings of the last 30 days another number of seats would have refused: as a number, and as a plot. */
function whatIfPart(path: string, { limit, overdraft, name }: ShownSeatUse, { places, seats }: WhatIf): Html {
  if (places === 'too many')
    return html`<p class="lead">More seats were taken in the last 30 days than this page computes: ask the API about a shorter range.</p>`
  if (places.takings === 0) return html`<p class="lead">No seat was taken in the last 30 days.</p>`
  const most = limit === null ? places.byPlace.length : limit + overdraft
  const chosen = seats ?? Math.max(1, Math.floor(most * 0.8))
  const refused = refusedWith(places, chosen).toLocaleString('en')
  const takings = places.takings.toLocaleString('en')
  return html`<div class="stack-tight" id="what-if">
    <p><strong>${counted(chosen, 'seat', 'seats')} would have refused ${refused} of ${takings} takings in the last 30 days.</strong></p>
    ${refusedPlot(places, most)}
    <form class="inline-form" method="get" action=${`${path}#what-if`}>
      <input type="hidden" name="use" value=${name} />
      ${field({ name: 'seats', label: 'Seats', value: String(chosen), inputmode: 'numeric', maxlength: 6 })}
      <button class="second">Compare</button>
    </form>
  </div>`
}

function refusedPlot(places: Places, most: number): Html {
  const step = Math.ceil(most / maxBars)
  const numbers = Array.from({ length: Math.ceil(most / step) }, (_, index) =>
    Math.min(most, (index + 1) * step),
  )
  return barPlot({
    label: 'Takings of the last 30 days that so many seats would have refused',
    by: 'number',
    bars: numbers.map((seats) => ({
      at: counted(seats, 'seat', 'seats'),
      parts: [refusedWith(places, seats)],
    })),
    kinds: [{ className: 'bar-bad', name: 'refused' }],
  })
}
