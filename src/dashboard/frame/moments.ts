import { type Html, html } from '../../html.ts'

const day = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })

/** `21 Nov 2026, 09:30 UTC` */
export function moment(at: string): Html {
  const date = new Date(at)
  return html`<time datetime=${at}>${day.format(date)}, ${clock.format(date)} UTC</time>`
}

/** `09:30 UTC`, for a day that is shown elsewhere. */
export const clockOf = (at: string): Html =>
  html`<time datetime=${at}>${clock.format(new Date(at))} UTC</time>`

/** `21 Nov 2026` */
export const dayOf = (at: string): Html => html`<time datetime=${at}>${day.format(new Date(at))}</time>`

/** `21 Nov, 09:00 UTC` */
export const hourOf = (at: string): Html => html`<time datetime=${at}>${hour.format(new Date(at))} UTC</time>`

const hour = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** `3 minutes ago`, `in 2 days`; after a month the date. */
export function ago(at: string, now: Date): Html {
  if (Math.abs(Date.parse(at) - now.getTime()) > 30 * 86_400_000) return dayOf(at)
  return html`<time datetime=${at} title=${`${day.format(new Date(at))}, ${clock.format(new Date(at))} UTC`}
    >${agoWords(at, now)}</time
  >`
}

/** `3 minutes ago` within a sentence, for any age. */
export function agoWords(at: string, now: Date): string {
  const passed = Date.parse(at) - now.getTime()
  const [unit, length] = units.find(([, ms]) => Math.abs(passed) >= ms) ?? ['now', 1]
  return unit === 'now' ? 'just now' : relative.format(Math.trunc(passed / length), unit)
}

/** `9 min 34 s`: the remaining time. */
export function timeLeft(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`
}
