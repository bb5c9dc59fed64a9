import type { Comparison } from '../../history/compare.ts'
import { type Content, type Html, html } from '../../html.ts'
import { moment } from '../frame/moments.ts'
import { table } from '../frame/parts.ts'
import { arrow, changed } from './timeline.ts'

/** The differences of a license between two moments. */
export function comparisonView(
  { from, to, changes, devices }: Comparison,
  addressOf: (sequence: number) => string,
): Html {
  const side = ({ sequence, at }: Comparison['from']): Html =>
    html`<span><a href=${addressOf(sequence)}>after event ${sequence}</a>, ${moment(at)}</span>`
  const nothing = changes.length === 0 && devices.length === 0
  return html`<div class="sheet stack">
    <p>${arrow(side(from), side(to))}</p>
    ${nothing && html`<p class="lead">No differences.</p>`}
    ${changes.length > 0 && html`<ul class="changes">${changes.map(changed)}</ul>`}
    ${
      devices.length > 0 &&
      table({
        caption: 'Changed devices',
        columns: [{ label: 'Device' }, { label: 'Before' }, { label: 'After' }],
        rows: devices.map(({ deviceId, name, before, after }): Content[] => [
          html`<span>${name}<span class="sub"><code>${deviceId}</code></span></span>`,
          before ?? 'not present',
          after ?? 'not present',
        ]),
      })
    }
  </div>`
}
