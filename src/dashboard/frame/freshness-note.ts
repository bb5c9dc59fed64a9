import { type Freshness, maxCounted } from '../../../projections/runner/freshness.ts'
import { type Html, html } from '../../html.ts'
import { ageWords } from './moments.ts'

/** The line at the end of a page that states its age: when its data last changed, and whether changes are missing. */
export function freshnessLine({ position, ageMs, waiting }: Freshness): Html {
  const updated = position < 0n ? 'Nothing recorded yet' : `Updated ${ageWords(ageMs)}`
  return html`<footer class="freshness">
    <p>${updated}; <span class=${waiting === 0 ? undefined : 'behind'}>${newer(waiting)}</span>.</p>
  </footer>`
}

function newer(waiting: number | undefined): string {
  if (waiting === undefined) return 'newer events unknown, because the event store is not responding'
  if (waiting === 0) return 'up to date'
  if (waiting === 1) return '1 newer event is being processed'
  return `${waiting}${waiting < maxCounted ? '' : ' or more'} newer events are being processed`
}
