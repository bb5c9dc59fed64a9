import type { Freshness } from '../../../projections/runner/freshness.ts'
import { type Html, html } from '../../html.ts'

/** `0.4 s ago`, `12 s ago`, `3 min ago`, `5 h ago`, `2 days ago` */
function ageWords(ageMs: number): string {
  const seconds = Math.max(0, ageMs / 1000)
  if (seconds < 10) return `${seconds.toFixed(1)} s ago`
  if (seconds < 60) return `${Math.floor(seconds)} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} days ago`
}

/** The line at the end of a page that states its age. */
export function freshnessLine({ position, ageMs, waiting }: Freshness): Html {
  const data =
    position < 0n
      ? 'No events recorded yet'
      : `Data as of event ${position.toLocaleString('en')}, ${ageWords(ageMs)}`
  return html`<footer class="freshness">
    <p>${data}; <span class=${waiting === 0 ? undefined : 'behind'}>${newer(waiting)}</span>.</p>
  </footer>`
}

function newer(waiting: number | undefined): string {
  if (waiting === undefined) return 'newer events unknown: the event store is not responding'
  if (waiting === 0) return 'up to date'
  return waiting === 1 ? '1 newer event is being processed' : `${waiting} newer events are being processed`
}
