import { type Content, html } from '../../html.ts'
import type { PlacesOfDay } from '../../usage/sharing.ts'
import { utcDayOf } from '../frame/moments.ts'
import { section, table } from '../frame/parts.ts'

/** From how many places the license was used by day; nothing where its product has no rules about that. */
export function placesPart(places: readonly PlacesOfDay[]): Content {
  if (places.length === 0) return undefined
  return section(
    'Places',
    html`<div class="sheeted">
      ${table({
        caption: 'Places',
        columns: [
          { label: 'Day' },
          { label: 'Networks', number: true },
          { label: 'Countries', number: true },
        ],
        rows: places.map(({ day, networks, countries }): Content[] => [
          utcDayOf(day),
          networks.toLocaleString('en'),
          countries.toLocaleString('en'),
        ]),
      })}
    </div>`,
    'From how many networks and countries one of its seats was used, by day, in the last 30 days.',
  )
}
