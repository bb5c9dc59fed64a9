import type { ShownSeat } from '../../domain/licenses/seats.ts'
import { inWords } from '../../history/sentences.ts'
import { type Html, html } from '../../html.ts'
import { counted } from '../../sentence.ts'
import { dayOf } from '../frame/moments.ts'
import { badge } from '../frame/parts.ts'

type Taken = Pick<
  ShownSeat,
  'deviceId' | 'name' | 'platform' | 'activatedAt' | 'identifiedBy' | 'inTwoPlacesAt' | 'fileEndsAt'
>

export type Seats = {
  used: number
  /** Seats that relays take besides. */
  atRelays: number
  /** null: unlimited. */
  limit: number | null
  /** How many devices are in the seats of people; absent where each seat is of a device. */
  devices?: number | undefined
  /** Longest active first; truncated when there are many. */
  taken: readonly Taken[]
  /** What the customer called their devices, by device. */
  givenNames: ReadonlyMap<string, string>
  /** The selected device. */
  ofQuestion: string | undefined
  /** The moment that is shown. */
  at: string
}

/** Further free seats are only counted. */
const maxFree = 12

/**
 * A picture of every seat, with its device or free. Each device links to what validate and activate would return
 * for it.
 * @param freeAddressOf the page that frees its seat; false for members who may not
 */
export function seatsPicture(
  { used, devices, atRelays, limit, taken, ofQuestion, givenNames, at }: Seats,
  addressOf: (deviceId: string) => string,
  freeAddressOf: ((deviceId: string) => string) | false,
): Html {
  const free = limit === null ? 0 : Math.max(0, limit - used - atRelays)
  const others = (devices ?? used) - taken.length
  return html`<div class="stack-tight">
    <p class="seats-count">
      <strong>${limit === null ? `${used.toLocaleString('en')} in use` : `${used.toLocaleString('en')} of ${limit.toLocaleString('en')} in use`}</strong>${
        limit === null ? ', unlimited' : free === 0 ? ', none free' : `, ${free.toLocaleString('en')} free`
      }${devices !== undefined && `, on ${counted(devices, 'device', 'devices')}`}${atRelays > 0 && `, ${atRelays.toLocaleString('en')} at relays`}
    </p>
    <ul class="seats">
      ${taken.map(
        (seat) => html`<li class=${seat.deviceId === ofQuestion ? 'seat taken asked' : 'seat taken'}>
          <a href=${addressOf(seat.deviceId)}>${seat.name === '' ? seat.deviceId : seat.name}</a>
          ${givenNames.has(seat.deviceId) && html`<span class="sub">The customer calls it “${givenNames.get(seat.deviceId)}”</span>`}
          <span class="sub">${seat.platform ?? ''} since ${dayOf(seat.activatedAt)}</span>
          ${seat.identifiedBy && html`<span class="sub">Recognized by ${inWords(seat.identifiedBy)}</span>`}
          ${seat.inTwoPlacesAt !== undefined && html`<span class="sub">${badge('warn', 'two machines')} last noticed on ${dayOf(seat.inTwoPlacesAt)}</span>`}
          ${seat.fileEndsAt && html`<span class="sub">License file until ${dayOf(seat.fileEndsAt)}</span>`}
          ${freeAddressOf && !(seat.fileEndsAt !== undefined && at < seat.fileEndsAt) && html`<a class="seat-free" href=${freeAddressOf(seat.deviceId)} aria-label=${`Free the seat of ${seat.name === '' ? seat.deviceId : seat.name}`}>Free seat</a>`}
        </li>`,
      )}
      ${others > 0 && html`<li class="seat taken">and ${others.toLocaleString('en')} more</li>`}
      ${atRelays > 0 && html`<li class="seat taken">${atRelays.toLocaleString('en')} at relays</li>`}
      ${Array.from({ length: Math.min(free, maxFree) }, () => html`<li class="seat">free</li>`)}
      ${free > maxFree && html`<li class="seat">and ${(free - maxFree).toLocaleString('en')} more free</li>`}
    </ul>
  </div>`
}
