import type { z } from 'zod'
import type { RelayState } from '../../domain/licenses/relay-seats.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { relayOut } from '../../http/licenses/relays.ts'
import { moment } from '../frame/moments.ts'
import { badge, section, table } from '../frame/parts.ts'

/** A relay of a license, as the API shows it. */
export type ShownRelay = z.infer<typeof relayOut>

const stateBadges: Record<RelayState, () => Html> = {
  living: () => badge('good', 'in use'),
  ended: () => badge('plain', 'ended'),
  released: () => badge('plain', 'released'),
  copied: () => badge('bad', 'copied'),
}

/** The relays in the customer's network: what seats they take, and until when. Nothing without any. */
export function relaysPart(relays: readonly ShownRelay[]): Content {
  if (relays.length === 0) return null
  return section(
    'Relays',
    html`<div class="sheeted">
      ${table({
        caption: 'Relays',
        columns: [
          { label: 'Relay' },
          { label: 'Status' },
          { label: 'Seats' },
          { label: 'Until' },
          { label: 'Last renewal', wide: true },
        ],
        rows: relays.map((relay): Content[] => [
          html`<span>${relay.name}<span class="sub"><code>${relay.relayId}</code></span></span>`,
          html`<span>${stateBadges[relay.state]()}${relay.copiedAt !== undefined && html`<span class="sub">found on ${moment(relay.copiedAt)}; it is not renewed</span>`}</span>`,
          seatsWords(relay),
          moment(relay.releasedAt ?? relay.endsAt),
          moment(relay.certifiedAt),
        ]),
      })}
    </div>`,
  )
}

/** A relay whose seats changed still takes those that an earlier certificate allows. */
const seatsWords = ({ seats, seatsTaken }: ShownRelay): string => {
  if (seatsTaken === 0) return `${seats.toLocaleString('en')}, none taken`
  return seatsTaken === seats
    ? seats.toLocaleString('en')
    : `${seats.toLocaleString('en')}, ${seatsTaken.toLocaleString('en')} taken for now`
}
